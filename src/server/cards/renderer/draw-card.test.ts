import { createCanvas, loadImage } from '@napi-rs/canvas';
import { beforeAll, describe, expect, test } from 'vitest';
import { PACKAGE_FOLDERS } from '../../../settings/package-root.ts';
import type { CardBrand, CardProduct } from './card-renderer.ts';
import { DISPLAY_FACE, drawableText, loadCardFonts, TEXT_FACE } from './card-text.ts';
import { createDrawCard } from './draw-card.ts';

const SCRIPTS = {
  Latin: 'Grüße, Ærøskøbing — Đà Nẵng: “quotes”',
  Greek: 'Ελληνικά Κύμα ᾠδή',
  Cyrillic: 'Тестовая Волна Ґї',
  'simplified Chinese': '开源数据库与浪潮',
  'traditional Chinese': '開源資料庫與浪潮',
  Japanese: '日本語のウェブ「波」',
  Korean: '한국어 제품 뷁 발견',
  Arabic: 'مرحبا بالعالم',
  Persian: 'سلام دنیا پچگژ',
  Hebrew: 'שלום עולם',
  Devanagari: 'नमस्ते हिन्दी',
  Thai: 'ภาษาไทยที่นี่',
  Bengali: 'বাংলা',
  Tamil: 'தமிழ்',
  Armenian: 'Հայերեն',
  Georgian: 'ქართული',
  emoji: '🚀👩‍💻🇩🇪❤️👍🏽',
  symbols: '★✓→∑⌘€₿',
};

let canShow: (codePoint: number) => boolean;
let draw: ReturnType<typeof createDrawCard>;

beforeAll(() => {
  canShow = loadCardFonts(PACKAGE_FOLDERS.cardFonts).canShow;
  draw = createDrawCard(PACKAGE_FOLDERS.cardFonts);
});

const brand = (overrides: Partial<CardBrand> = {}): CardBrand => ({
  name: 'Example',
  tagline: 'A place to discover what makers launch.',
  mark: { background: '#0c3b54', shapes: [{ fill: '#ff8a57', path: 'M8 8h16v16H8Z' }] },
  ...overrides,
});
const product = (overrides: Partial<CardProduct> = {}): CardProduct => ({
  id: 'git',
  name: 'Git',
  maker: 'Linus Torvalds',
  description: 'Keeps the history of a project in every copy of it.',
  upvotes: 12,
  ...overrides,
});

/** Returns the pixels of a text in one of the faces. */
function drawn(text: string, face: string): string {
  const context = createCanvas(80, 80).getContext('2d');
  context.font = `700 40px ${face}`;
  context.fillText(text, 10, 55);
  return Buffer.from(context.getImageData(0, 0, 80, 80).data).toString('base64');
}

describe.each(Object.entries(SCRIPTS))('%s', (_script, text) => {
  test('the fonts have a glyph for every character of the sample, so none is drawn as a box', () => {
    expect(drawableText(text, canShow)).toBe(text);
    for (const face of [DISPLAY_FACE, TEXT_FACE]) {
      const box = drawn('\u{10fffd}', face);
      for (const { segment } of new Intl.Segmenter('und').segment(text)) {
        if (segment.trim() !== '') expect(drawn(segment, face), `${segment} in ${face}`).not.toBe(box);
      }
    }
  });
});

test('Arabic letters are joined', () => {
  const context = createCanvas(10, 10).getContext('2d');
  context.font = `700 40px ${DISPLAY_FACE}`;
  const apart = [...'مرحبا'].reduce((sum, letter) => sum + context.measureText(letter).width, 0);
  expect(context.measureText('مرحبا').width).toBeLessThan(apart * 0.9);
});

test('every card is a PNG of 1200 × 630, and different content gives a different picture', async () => {
  const variants = [
    product(),
    product({ name: 'Vim' }),
    product({ maker: 'Junio Hamano' }),
    product({ upvotes: 13 }),
    product({ description: 'Another text that says something else.' }),
    product({ id: 'gitter' }),
  ];
  const pictures = await Promise.all(variants.map((each) => draw({ brand: brand(), product: each })));
  const mark = { background: '#0c3b54', shapes: [] };
  const brands = [brand({ name: 'Elsewhere' }), brand({ mark })];
  for (const each of brands) pictures.push(await draw({ brand: each, product: product() }));
  for (const each of [...brands, brand(), brand({ tagline: 'Another one' })])
    pictures.push(await draw({ brand: each }));
  for (const png of pictures) {
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1200, 630]);
  }
  expect(new Set(pictures.map((png) => png.toString('base64'))).size).toBe(pictures.length);
});

test('names of 5,000 characters are drawn, and the id replaces a name that no font can show', async () => {
  const text = 'W'.repeat(5_000);
  const long = await loadImage(
    await draw({ brand: brand({ name: text }), product: product({ name: text, maker: text, description: text }) }),
  );
  expect([long.width, long.height]).toEqual([1200, 630]);
  const unknown = await draw({ brand: brand(), product: product({ name: '\u{10fffd}' }) });
  expect(unknown.equals(await draw({ brand: brand(), product: product({ name: 'git' }) }))).toBe(true);
});

describe('the picture on a card', () => {
  const square = (attributes: string, inside = '') =>
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="64" height="64"><rect width="64" height="64" ${attributes}/>${inside}</svg>`,
    );
  const card = (picture?: Buffer) => draw({ brand: brand(), product: { ...product(), ...(picture && { picture }) } });

  test('a picture in PNG, JPEG, WebP or SVG appears in the tile', async () => {
    for (const type of ['image/png', 'image/jpeg', 'image/webp'] as const) {
      const canvas = createCanvas(90, 60);
      const context = canvas.getContext('2d');
      context.fillStyle = '#00ff00';
      context.fillRect(0, 0, 90, 60);
      expect(await greenOfTile(await card(canvas.encodeSync(type.slice(6) as 'png')))).toBeGreaterThan(240);
    }
    expect(await greenOfTile(await card(square('fill="#00ff00"')))).toBeGreaterThan(240);
  });

  test.each([
    ['is not a picture', Buffer.from('not a picture')],
    ['refers to another file', square('fill="red"', '<image href="file:///etc/hostname" width="9" height="9"/>')],
    ['refers to another site', square('fill="url(https://example.com/#a)"')],
    ['contains itself', square('fill="red"', '<g id="a"><use href="#a"/></g>')],
    ['declares entities', Buffer.concat([Buffer.from('<!DOCTYPE svg [<!ENTITY a "b">]>'), square('fill="red"')])],
  ])('a picture that %s is replaced by the initial', async (_name, picture) => {
    expect((await card(picture)).equals(await card())).toBe(true);
  });

  test.each(['href=', 'fill="url('])(
    'a picture with a megabyte of spaces after `%s` is checked quickly',
    async (start) => {
      const picture = square('fill="#00ff00"', `<!-- ${start}${' '.repeat(2 ** 20)}#a -->`);
      // A check whose time grows with the square of the length would take an hour.
      expect(await greenOfTile(await card(picture))).toBeGreaterThan(240);
    },
  );
});

async function greenOfTile(png: Buffer): Promise<number> {
  const canvas = createCanvas(1200, 630);
  const context = canvas.getContext('2d');
  context.drawImage(await loadImage(png), 0, 0);
  return context.getImageData(190, 200, 1, 1).data[1] ?? 0;
}
