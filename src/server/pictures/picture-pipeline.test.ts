import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { pidsOfChildren, testOnLinux } from '../../../tests/support/child-processes.ts';
import { buildApng, buildPng, pngChunk } from '../../../tests/support/picture-bytes.ts';
import type { PictureMediaType, PictureUse } from '../../contract/products/picture-uploads.ts';
import { PICTURE_NAME } from '../../core/pictures/picture-store.ts';
import { createPictureProcessor, type PictureProcessor, type PictureProcessorOptions } from './picture-pipeline.ts';

const warn = vi.fn();
let folder: string;
let shared: PictureProcessor;
const started: PictureProcessor[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'groundswell-pipeline-'));
  shared = createPictureProcessor({ log: { info() {}, warn }, folder, timeoutMs: 120_000 });
});
afterEach(async () => {
  for (const each of started.splice(0)) await each.close();
  warn.mockClear();
});
afterAll(async () => {
  await shared.close();
  await rm(folder, { recursive: true });
});

function start(options: Partial<PictureProcessorOptions> = {}): PictureProcessor {
  const pictures = createPictureProcessor({ log: { info() {}, warn }, folder, timeoutMs: 120_000, ...options });
  started.push(pictures);
  return pictures;
}

interface Sending {
  use?: PictureUse;
  type?: PictureMediaType;
  pictures?: PictureProcessor;
}

function send(bytes: Buffer, { use = 'screenshot', type = 'image/png', pictures = shared }: Sending = {}) {
  const slot = pictures.admit('test');
  return slot.process({ bytes, declaredType: type, use }).finally(() => slot.release());
}

const read = (address: string) => readFile(join(folder, address.slice('/images/'.length)));
const colour = (background: string, width = 40, height = 30) =>
  sharp({ create: { width, height, channels: 3, background } });

/** Stores a picture, and returns its metadata and pixels. */
async function convert(picture: Sharp | Buffer, options: Sending = {}) {
  const stored = await read(await send(Buffer.isBuffer(picture) ? picture : await picture.toBuffer(), options));
  const { data, info } = await sharp(stored).raw().toBuffer({ resolveWithObject: true });
  return {
    stored,
    metadata: await sharp(stored).metadata(),
    pixelAt: (x: number, y: number) => [
      ...data.subarray((y * info.width + x) * info.channels).subarray(0, info.channels),
    ],
  };
}

/** Matches colours with a tolerance, because WebP is lossy. */
const near = (expected: readonly number[], tolerance = 6) =>
  expected.map((value) => expect.toSatisfy((actual: number) => Math.abs(actual - value) <= tolerance));

test.each<[PictureMediaType, (picture: Sharp) => Sharp]>([
  ['image/png', (picture: Sharp) => picture.png()],
  ['image/jpeg', (picture: Sharp) => picture.jpeg()],
  ['image/webp', (picture: Sharp) => picture.webp()],
  ['image/avif', (picture: Sharp) => picture.avif({ effort: 0 })],
  ['image/gif', (picture: Sharp) => picture.gif()],
])('%s becomes WebP: a square image, and a screenshot that is not enlarged', async (type, encode) => {
  const image = await convert(encode(colour('#2266aa', 600, 300)), { use: 'image', type });
  expect(image.metadata).toMatchObject({ format: 'webp', width: 512, height: 512 });
  const screenshot = await convert(encode(colour('#2266aa', 600, 300)), { type });
  expect(screenshot.metadata).toMatchObject({ format: 'webp', width: 600, height: 300 });
  expect(screenshot.pixelAt(300, 150).slice(0, 3)).toEqual(near([0x22, 0x66, 0xaa]));
});

test('a large screenshot is reduced to 1,600 pixels, and a small image is enlarged to 512 pixels', async () => {
  const { metadata } = await convert(colour('red', 4_000, 1_000).png());
  expect(metadata).toMatchObject({ width: 1_600, height: 400 });
  const image = await convert(colour('red', 20, 10).png(), { use: 'image' });
  expect(image.metadata).toMatchObject({ width: 512, height: 512 });
});

test('pictures of 40 megapixels are accepted if no side is longer than 32,768 pixels', async () => {
  expect((await convert(buildPng({ width: 8_000, height: 5_000, bitDepth: 1 }))).metadata.width).toBe(1_600);
  expect((await convert(buildPng({ width: 32_768, height: 1_220, bitDepth: 1 }))).metadata.width).toBe(1_600);
});

const CORNERS = { red: [220, 30, 30], green: [30, 160, 30], blue: [30, 30, 220], yellow: [220, 220, 30] };
const UPRIGHT = { width: 64, height: 32 };

/** Returns the colour of a pixel of the upright picture, whose quarters have four colours. */
function uprightPixel(x: number, y: number): number[] {
  if (y < UPRIGHT.height / 2) return x < UPRIGHT.width / 2 ? CORNERS.red : CORNERS.green;
  return x < UPRIGHT.width / 2 ? CORNERS.blue : CORNERS.yellow;
}

const [W, H] = [UPRIGHT.width - 1, UPRIGHT.height - 1];
/** For each EXIF orientation, the colour of the pixel that is stored at x, y. */
const PIXELS_BY_ORIENTATION: ((x: number, y: number) => number[])[] = [
  (x, y) => uprightPixel(x, y),
  (x, y) => uprightPixel(W - x, y),
  (x, y) => uprightPixel(W - x, H - y),
  (x, y) => uprightPixel(x, H - y),
  (x, y) => uprightPixel(y, x),
  (x, y) => uprightPixel(W - y, x),
  (x, y) => uprightPixel(W - y, H - x),
  (x, y) => uprightPixel(y, H - x),
];

test.each(PIXELS_BY_ORIENTATION.map((place, index) => ({ orientation: index + 1, place })))(
  'a photo of EXIF orientation $orientation is turned upright and loses its GPS position',
  async ({ orientation, place }) => {
    const { width, height } = orientation < 5 ? UPRIGHT : { width: UPRIGHT.height, height: UPRIGHT.width };
    const pixels = Array.from({ length: height }, (_, y) => Array.from({ length: width }, (_, x) => place(x, y)));
    const photo = await sharp(Buffer.from(pixels.flat(2)), { raw: { width, height, channels: 3 } })
      .withExif({
        IFD0: { Make: 'Camera', Copyright: 'Secret' },
        IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '48/1 8/1 0/1' },
      })
      .withMetadata({ orientation })
      .jpeg({ quality: 95, chromaSubsampling: '4:4:4' })
      .toBuffer();
    expect(photo.includes('Exif')).toBe(true);
    const { metadata, pixelAt, stored } = await convert(photo, { type: 'image/jpeg' });
    expect(metadata).toMatchObject(UPRIGHT);
    expect(metadata.orientation).toBeUndefined();
    expect(pixelAt(6, 6)).toEqual(near(CORNERS.red, 30));
    expect(pixelAt(58, 6)).toEqual(near(CORNERS.green, 30));
    expect(pixelAt(6, 26)).toEqual(near(CORNERS.blue, 30));
    expect(pixelAt(58, 26)).toEqual(near(CORNERS.yellow, 30));
    expect(stored.includes('EXIF')).toBe(false);
  },
);

test('EXIF, XMP, colour profiles and comments are removed', async () => {
  const picture = await colour('#808080')
    .withExif({ IFD0: { Copyright: 'Secret' } })
    .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"><a>Secret</a></x:xmpmeta>')
    .withIccProfile('p3')
    .png()
    .toBuffer();
  const comment = pngChunk('tEXt', Buffer.from('Comment\0Secret'));
  const { metadata, stored } = await convert(Buffer.concat([picture.subarray(0, 33), comment, picture.subarray(33)]));
  expect(metadata).toMatchObject({ hasProfile: false });
  expect([metadata.exif, metadata.xmp, metadata.icc, metadata.comments]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(stored.includes('Secret')).toBe(false);
});

test('a CMYK picture is converted to sRGB', async () => {
  const cmyk = await colour('#aa6655').toColourspace('cmyk').jpeg({ quality: 100 }).toBuffer();
  expect(await sharp(cmyk).metadata()).toMatchObject({ space: 'cmyk' });
  const { pixelAt, metadata } = await convert(cmyk, { type: 'image/jpeg' });
  expect(metadata.space).toBe('srgb');
  expect(pixelAt(20, 15)).toEqual(near([0xaa, 0x66, 0x55], 12));
});

test('Display P3 is converted to sRGB, so the same pixel value becomes a stronger red', async () => {
  // The pixels are not converted; only the profile declares them as P3.
  const p3 = await colour('#c86450').keepIccProfile().png().toBuffer();
  const profile = (await sharp(await colour('#fff').withIccProfile('p3').png().toBuffer()).metadata()).icc;
  const chunk = pngChunk(
    'iCCP',
    Buffer.concat([Buffer.from('p3\0\0', 'latin1'), deflateSync(profile ?? Buffer.alloc(0))]),
  );
  const { pixelAt } = await convert(Buffer.concat([p3.subarray(0, 33), chunk, p3.subarray(33)]));
  const [red = 0, green = 255] = pixelAt(20, 15);
  expect(red).toBeGreaterThan(0xc8 + 5);
  expect(green).toBeLessThan(0x64);
});

test('16-bit, grey, palette and transparent pictures are converted correctly', async () => {
  const deep = await colour('#2266aa').toColourspace('rgb16').png().toBuffer();
  expect(await sharp(deep).metadata()).toMatchObject({ depth: 'ushort' });
  expect((await convert(deep)).pixelAt(5, 5)).toEqual(near([0x22, 0x66, 0xaa]));
  const grey = await convert(colour('#777777').toColourspace('b-w').png());
  expect(grey.pixelAt(5, 5)).toEqual(near([0x77, 0x77, 0x77]));
  const palette = await convert(colour('#2266aa').png({ palette: true }));
  expect(palette.pixelAt(5, 5)).toEqual(near([0x22, 0x66, 0xaa]));
  const clear = await convert(sharp({ create: { width: 9, height: 9, channels: 4, background: '#00000000' } }).png());
  expect(clear.pixelAt(4, 4)[3]).toBe(0);
});

test.each(['gif', 'webp'] as const)('the first frame of an animated %s is used', async (format) => {
  const frames = await Promise.all(['#dd2222', '#22dd22'].map((each) => colour(each).png().toBuffer()));
  const animation = await sharp(frames, { join: { animated: true } })
    .toFormat(format)
    .toBuffer();
  expect(await sharp(animation).metadata()).toMatchObject({ pages: 2 });
  const { metadata, pixelAt } = await convert(animation, { type: `image/${format}` });
  expect(metadata).toMatchObject({ width: 40, height: 30 });
  expect(metadata.pages).toBeUndefined();
  expect(pixelAt(20, 15).slice(0, 3)).toEqual(near([0xdd, 0x22, 0x22]));
});

test('an animated PNG becomes a picture of its size', async () => {
  expect((await convert(buildApng(3))).metadata).toMatchObject({ width: 2, height: 2 });
});

test('uploading a picture again returns the same URL and renews the modification time of its file', async () => {
  const bytes = await colour('#123456').png().toBuffer();
  const address = await send(bytes);
  const path = join(folder, address.slice('/images/'.length));
  await utimes(path, 0, 0);
  expect(await send(bytes)).toBe(address);
  const { mtimeMs } = await stat(path);
  expect(mtimeMs).toBeGreaterThan(0);
});

testOnLinux('killing the worker process fails only the current picture, and leaves no partial file', async () => {
  const pictures = start();
  const before = await readdir(folder);
  const others = await pidsOfChildren('picture-worker');
  await send(await colour('#abcdef').png().toBuffer(), { pictures });
  const [pid = expect.unreachable()] = (await pidsOfChildren('picture-worker')).filter(
    (each) => !others.includes(each),
  );
  // A suspended process cannot finish the picture.
  process.kill(pid, 'SIGSTOP');
  const lost = send(buildPng({ width: 5, height: 5 }), { pictures });
  const next = send(await colour('#fedcba').png().toBuffer(), { pictures });
  process.kill(pid, 'SIGKILL');
  await expect(lost).rejects.toMatchObject({
    code: 'picture_unusable',
    message: expect.stringContaining('time or memory'),
  });
  await next;
  const added = (await readdir(folder)).filter((name) => !before.includes(name));
  expect(added).toHaveLength(2);
  for (const name of added) expect(name).toMatch(PICTURE_NAME);
});

test('a picture that takes too long is refused', async () => {
  const pictures = start({ timeoutMs: 1 });
  await expect(send(buildPng({ width: 6_000, height: 6_000 }), { pictures })).rejects.toMatchObject({
    code: 'picture_unusable',
  });
});

testOnLinux('the worker process exits when it is idle, and starts again for the next picture', async () => {
  const pictures = start({ idleMs: 10 });
  const others = await pidsOfChildren('picture-worker');
  await send(buildPng({ width: 5, height: 5 }), { pictures });
  await expect
    .poll(async () => (await pidsOfChildren('picture-worker')).filter((pid) => !others.includes(pid)))
    .toEqual([]);
  await send(buildPng({ width: 6, height: 6 }), { pictures });
});

test('a sender has a limited number of slots, and others are still admitted', async () => {
  const pictures = start({ queue: { maxSlots: 4, maxSlotsPerSender: 2 } });
  const slots = ['a', 'a', 'b'].map((sender) => pictures.admit(sender));
  expect(() => pictures.admit('a')).toThrow(expect.objectContaining({ code: 'overloaded' }));
  slots[0]?.release();
  pictures.admit('a');
});

test('if the worker process cannot start, a picture is refused as overloaded', async () => {
  const broken = join(folder, '..', `broken-${process.pid}.mjs`);
  await writeFile(broken, 'process.exit(1)');
  onTestFinished(() => rm(broken));
  const pictures = start({ workerFile: broken });
  await expect(send(buildPng({ width: 5, height: 5 }), { pictures })).rejects.toMatchObject({ code: 'overloaded' });
});

test('a site that is about to stop finishes one picture and refuses waiting ones', async () => {
  const pictures = start();
  const first = send(buildPng({ width: 7, height: 7 }), { pictures });
  const waiting = send(buildPng({ width: 8, height: 8 }), { pictures });
  // The first picture has been sent to the worker process, which cannot have responded yet.
  await new Promise(setImmediate);
  pictures.stopQueueing();
  await expect(waiting).rejects.toMatchObject({ code: 'overloaded', message: expect.stringContaining('restarting') });
  await first;
});

test('closing the pipeline refuses the picture in progress, the waiting ones and all later ones', async () => {
  const pictures = start();
  const first = send(buildPng({ width: 7, height: 7 }), { pictures });
  const waiting = send(buildPng({ width: 8, height: 8 }), { pictures });
  const outcomes = Promise.allSettled([first, waiting]);
  await pictures.close();
  expect(await outcomes).toMatchObject([{ reason: { code: 'overloaded' } }, { reason: { code: 'overloaded' } }]);
  const later = send(buildPng({ width: 9, height: 9 }), { pictures });
  await expect(later).rejects.toMatchObject({ code: 'overloaded' });
});
