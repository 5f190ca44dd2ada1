import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { recordPeaks, testOnLinux } from '../../../tests/support/child-processes.ts';
import * as build from '../../../tests/support/picture-bytes.ts';
import { createPictureProcessor, PICTURE_WORKER_FILE, type PictureProcessor } from './picture-pipeline.ts';

const FORMATS = ['png', 'jpeg', 'webp', 'avif', 'gif'] as const;
type Format = (typeof FORMATS)[number];

const NOISE = sharp({
  create: { width: 64, height: 48, channels: 3, background: '#fff', noise: { type: 'gaussian', mean: 128, sigma: 30 } },
});
const PICTURES: Record<Format, Buffer> = {
  png: await NOISE.clone().png().toBuffer(),
  jpeg: await NOISE.clone().jpeg().toBuffer(),
  webp: await NOISE.clone().webp({ lossless: true }).toBuffer(),
  avif: await NOISE.clone().avif({ effort: 0 }).toBuffer(),
  gif: await NOISE.clone().gif().toBuffer(),
};

const DAMAGED = /damaged or incomplete/;
const TOO_MANY_PIXELS = /more than 40 megapixels/;
const UNKNOWN = /not a picture of a supported type/;

interface Hostile {
  name: string;
  type: `image/${Format}`;
  bytes: Buffer;
  reason: RegExp;
}

const hostile = (name: string, format: Format, bytes: Buffer, reason: RegExp): Hostile => ({
  name,
  type: `image/${format}`,
  bytes,
  reason,
});
const text = (content: string) => Buffer.from(content, 'latin1');
const compressedText = (keyword: string, bytes: number) =>
  build.pngChunk('zTXt', Buffer.concat([text(`${keyword}\0\0`), deflateSync(Buffer.alloc(bytes, 'a'), { level: 9 })]));

const EMPTY = FORMATS.map((format) => hostile(`no bytes as ${format}`, format, Buffer.alloc(0), /is empty/));

const TRUNCATED = FORMATS.flatMap((format) =>
  [0.25, 0.4, 0.55, 0.7, 0.85].map((share) => {
    const bytes = PICTURES[format].subarray(0, Math.floor(PICTURES[format].length * share));
    return hostile(`${format} cut off at ${share * 100} %`, format, bytes, DAMAGED);
  }),
);

const LYING = FORMATS.flatMap((declared) =>
  FORMATS.filter((actual) => actual !== declared).map((actual) =>
    hostile(
      `${actual} sent as ${declared}`,
      declared,
      PICTURES[actual],
      /^The file is (?:a (?!AVIF)\w+|an AVIF), but was sent as \w+\. Please/,
    ),
  ),
);

const PAYLOADS = {
  HTML: { bytes: text('<html><body onload=alert(1)>'), reason: /also a web page/ },
  script: { bytes: text('<ScRiPt src=//evil.example></script>'), reason: /also a web page/ },
  PHP: { bytes: text('<?php system($_GET[0]);'), reason: /also a script/ },
  ZIP: { bytes: build.ZIP, reason: /also a ZIP archive/ },
  RAR: { bytes: text('Rar!\x1a\x07\x01\x00'), reason: /also an archive/ },
};
const POLYGLOTS = [
  ...FORMATS.flatMap((format) =>
    Object.entries(PAYLOADS).map(([what, { bytes, reason }]) =>
      hostile(`${format} followed by ${what}`, format, Buffer.concat([PICTURES[format], bytes]), reason),
    ),
  ),
  hostile(
    'PNG with HTML in a comment',
    'png',
    build.buildPng({ width: 1, height: 1 }, { chunks: [build.pngChunk('tEXt', text('a\0<script>alert(1)</script>'))] }),
    /also a web page/,
  ),
  hostile(
    'PNG with a PDF in a comment',
    'png',
    build.buildPng({ width: 1, height: 1 }, { chunks: [build.pngChunk('tEXt', text('a\0%PDF-1.7'))] }),
    /also a PDF/,
  ),
  hostile(
    'GIF that is JavaScript',
    'gif',
    Buffer.concat([text('GIF89a/*'), PICTURES.gif.subarray(8)]),
    /also a script/,
  ),
  hostile(
    'JPEG that is JavaScript',
    'jpeg',
    Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), text('/*'), PICTURES.jpeg.subarray(6)]),
    /also a script/,
  ),
];

const OTHER_FILES = [
  hostile(
    'SVG with a script',
    'png',
    text('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
    /is an SVG/,
  ),
  hostile('SVG with a declaration', 'jpeg', text('<?xml version="1.0"?><!DOCTYPE svg><svg/>'), /is an SVG/),
  hostile('HTML', 'png', text('<!doctype html><script>alert(1)</script>'), UNKNOWN),
  hostile('TIFF', 'png', await NOISE.clone().tiff().toBuffer(), UNKNOWN),
  hostile('BMP', 'png', Buffer.concat([text('BM'), Buffer.alloc(60)]), UNKNOWN),
  hostile('ICO', 'png', Buffer.concat([Buffer.from([0, 0, 1, 0, 1, 0]), Buffer.alloc(60)]), UNKNOWN),
  hostile('HEIC', 'avif', text('\0\0\0\x18ftypheic\0\0\0\0mif1heic'), UNKNOWN),
  hostile('HEIC that says it is AVIF', 'avif', text('\0\0\0\x18ftypavif\0\0\0\0mif1heic'), DAMAGED),
  hostile('ZIP', 'png', build.ZIP, UNKNOWN),
  hostile('WAVE', 'webp', text('RIFF\0\x01\0\0WAVEfmt '), UNKNOWN),
  hostile('program', 'png', Buffer.concat([text('MZ'), Buffer.alloc(200)]), UNKNOWN),
  hostile('noise', 'gif', Buffer.alloc(1_000, 0xa5), UNKNOWN),
];

const EXTREME = [
  hostile(
    'PNG of 65,535²',
    'png',
    build.buildPng({ width: 65_535, height: 65_535 }, { pixels: deflateSync('') }),
    TOO_MANY_PIXELS,
  ),
  hostile(
    'PNG of 2³¹ squared',
    'png',
    build.buildPng({ width: 2 ** 31 - 1, height: 2 ** 31 - 1 }, { pixels: deflateSync('') }),
    DAMAGED,
  ),
  hostile('PNG without width', 'png', build.buildPng({ width: 0, height: 9 }, { pixels: deflateSync('') }), DAMAGED),
  hostile(
    'PNG bomb of 41 megapixels',
    'png',
    build.buildPng({ width: 8_200, height: 5_000, bitDepth: 1 }),
    TOO_MANY_PIXELS,
  ),
  hostile(
    'PNG of one pixel by 40 million',
    'png',
    build.buildPng({ width: 1, height: 40_000_000 }),
    /longer than 32,768 pixels/,
  ),
  hostile(
    'PNG of 40 million by one',
    'png',
    build.buildPng({ width: 40_000_000, height: 1 }),
    /longer than 32,768 pixels/,
  ),
  hostile('PNG without pixels', 'png', build.buildPng({ width: 9, height: 9 }, { pixels: Buffer.alloc(0) }), DAMAGED),
  hostile(
    'PNG with too few rows',
    'png',
    build.buildPng({ width: 9, height: 9 }, { pixels: build.blackPixels({ width: 9, height: 4 }) }),
    DAMAGED,
  ),
  hostile('PNG of a header alone', 'png', build.pngHeader({ width: 9, height: 9 }), DAMAGED),
  hostile('GIF of 65,535²', 'gif', build.buildGif({ width: 65_535, height: 65_535 }), TOO_MANY_PIXELS),
  hostile(
    'GIF of 65,535² with a thousand frames',
    'gif',
    build.buildGif({ width: 65_535, height: 65_535, frames: 1_000 }),
    TOO_MANY_PIXELS,
  ),
  hostile('GIF without a frame', 'gif', build.buildGif({ width: 9, height: 9, frames: 0 }), DAMAGED),
  hostile('JPEG of 65,500²', 'jpeg', build.withJpegSize(PICTURES.jpeg, 65_500, 65_500), TOO_MANY_PIXELS),
  hostile('JPEG without width', 'jpeg', build.withJpegSize(PICTURES.jpeg, 0, 48), DAMAGED),
  hostile('WebP of 16,383²', 'webp', build.withWebpSize(PICTURES.webp, 16_383, 16_383), TOO_MANY_PIXELS),
  hostile(
    'WebP canvas of 16,777,216²',
    'webp',
    build.buildWebp(build.webpCanvas(2 ** 24, 2 ** 24), PICTURES.webp.subarray(12)),
    DAMAGED,
  ),
  hostile(
    'animated WebP of 16,777,216²',
    'webp',
    build.buildWebp(build.webpCanvas(2 ** 24, 2 ** 24, { animated: true })),
    DAMAGED,
  ),
  hostile('AVIF of 65,535²', 'avif', build.withAvifSize(PICTURES.avif, 65_535, 65_535), TOO_MANY_PIXELS),
  hostile('AVIF of 2³² squared', 'avif', build.withAvifSize(PICTURES.avif, 2 ** 32 - 1, 2 ** 32 - 1), DAMAGED),
  hostile('AVIF that is larger than its pixels', 'avif', build.withAvifSize(PICTURES.avif, 6_000, 6_000), DAMAGED),
  hostile('AVIF without width', 'avif', build.withAvifSize(PICTURES.avif, 0, 48), DAMAGED),
];

/** This picture exceeds the memory limit, because libpng unpacks 3 GB of text. */
const TEXT_BOMB = hostile(
  'PNG with 400 compressed texts of 7.9 MB',
  'png',
  build.buildPng({ width: 9, height: 9 }, { chunks: Array<Buffer>(400).fill(compressedText('a', 7_900_000)) }),
  /too much time or memory/,
);

const REFUSED = [...EMPTY, ...TRUNCATED, ...LYING, ...POLYGLOTS, ...OTHER_FILES, ...EXTREME];

/** Unusual, but valid pictures. */
const HARMLESS: { name: string; type: Format; bytes: Buffer }[] = [
  {
    name: 'PNG with 2,000 texts',
    type: 'png',
    bytes: build.buildPng({ width: 9, height: 9 }, { chunks: Array<Buffer>(2_000).fill(compressedText('a', 100)) }),
  },
  {
    name: 'PNG with a profile of 500 MB',
    type: 'png',
    bytes: build.buildPng(
      { width: 9, height: 9 },
      {
        chunks: [build.pngChunk('iCCP', Buffer.concat([text('a\0\0'), build.deflatedZeros(500_000_000)]))],
      },
    ),
  },
  {
    name: 'PNG with 500 MB after its pixels',
    type: 'png',
    bytes: build.buildPng({ width: 9, height: 9 }, { pixels: build.deflatedZeros(500_000_000) }),
  },
  {
    name: 'PNG of 39.6 megapixels with 16 bits',
    type: 'png',
    bytes: build.buildPng({ width: 6_000, height: 6_600, bitDepth: 16, colorType: 6 }),
  },
  { name: 'animated PNG of 5,000 frames', type: 'png', bytes: build.buildApng(5_000) },
  { name: 'GIF of 100,000 frames', type: 'gif', bytes: build.buildGif({ width: 100, height: 100, frames: 100_000 }) },
];

const warn = vi.fn();
let folder: string;
let pictures: PictureProcessor;
let workers: Awaited<ReturnType<typeof recordPeaks>> | undefined;
let workerFolder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'groundswell-hostile-'));
  workerFolder = await mkdtemp(join(tmpdir(), 'groundswell-hostile-worker-'));
  if (process.platform === 'linux') workers = await recordPeaks(workerFolder, PICTURE_WORKER_FILE);
  const workerFile = workers?.file ?? PICTURE_WORKER_FILE;
  pictures = createPictureProcessor({ log: { info() {}, warn }, folder, workerFile, timeoutMs: 120_000 });
});
afterAll(async () => {
  await pictures.close();
  await rm(folder, { recursive: true });
  await rm(workerFolder, { recursive: true });
});

function send({ type, bytes }: Pick<Hostile, 'type' | 'bytes'>): Promise<string> {
  const slot = pictures.admit('test');
  return slot.process({ bytes, declaredType: type, use: 'screenshot' }).finally(() => slot.release());
}

test('there are more than a hundred hostile files, and each is small enough to be uploaded', () => {
  expect(REFUSED.length).toBeGreaterThan(100);
  for (const { bytes } of [...REFUSED, ...HARMLESS, TEXT_BOMB]) expect(bytes.length).toBeLessThan(5 * 1024 * 1024);
});

test.each(REFUSED)('$name is refused with a message', async (file) => {
  await expect(send(file)).rejects.toMatchObject({
    code: expect.stringMatching(/^(?:picture_unusable|unsupported_media_type)$/),
    message: expect.stringMatching(file.reason),
  });
});

test('the worker process survives every refusal, and no file remains', async () => {
  expect(warn).not.toHaveBeenCalled();
  expect(await readdir(folder)).toEqual([]);
});

test.each(HARMLESS)('$name becomes a small picture', async ({ type, bytes }) => {
  const address = await send({ type: `image/${type}`, bytes });
  const stored = await readFile(join(folder, address.slice('/images/'.length)));
  expect(await sharp(stored).metadata()).toMatchObject({ format: 'webp' });
  expect(stored.length).toBeLessThan(50_000);
});

testOnLinux('no hostile or unusual picture except the text bomb makes a worker use 600 MiB', async () => {
  const peaks = (await workers?.readPeaks()) ?? [];
  expect(peaks.length).toBeGreaterThan(0);
  for (const bytes of peaks) expect(bytes).toBeLessThan(600 * 1024 * 1024);
});

test('a picture that unpacks to gigabytes is refused at the memory limit, and the next picture is processed', async () => {
  const outcomes = await Promise.allSettled([send(TEXT_BOMB), send({ type: 'image/png', bytes: PICTURES.png })]);
  expect(outcomes).toMatchObject([
    { status: 'rejected', reason: { code: 'picture_unusable', message: expect.stringMatching(TEXT_BOMB.reason) } },
    { status: 'fulfilled' },
  ]);
  // After a timeout, the warning would say that the task took too long.
  expect(warn.mock.calls.map(([, message]) => message)).toEqual(['The process exited (SIGKILL)']);
});
