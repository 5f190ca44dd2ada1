import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readBrand } from './brand.ts';
import { PACKAGE_ROOT } from './package-root.ts';
import { readSettings, SettingsError } from './settings.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'brand-'));
});

afterAll(() => rm(folder, { recursive: true }));

async function fileOf(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

const brandOf = (environment: Record<string, string>) => readBrand(readSettings(environment));

async function errorsOf(environment: Record<string, string>): Promise<string> {
  const error: unknown = await brandOf(environment).catch((each) => each);
  if (!(error instanceof SettingsError)) throw new Error('The brand was accepted', { cause: error });
  return error.errors.join('\n').replaceAll(folder, 'DIR');
}

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle id="a" cx="16" cy="16" r="16"/></svg>';
const picture = (width = 40, height = 20) => sharp({ create: { width, height, channels: 4, background: '#0b6e4f' } });

test('without settings, the site has the default brand', async () => {
  expect(await brandOf({})).toEqual({ page: {} });
});

describe('accepted logos', () => {
  test.each([
    ['PNG', () => picture().png().toBuffer(), 'image/png', 'png', '40x20'],
    ['lossy WebP', () => picture().flatten().webp().toBuffer(), 'image/webp', 'webp', '40x20'],
    ['lossless WebP', () => picture().webp({ lossless: true }).toBuffer(), 'image/webp', 'webp', '40x20'],
    [
      'translucent WebP',
      async () =>
        sharp({ create: { width: 40, height: 20, channels: 4, background: '#0b6e4f80' } })
          .webp()
          .toBuffer(),
      'image/webp',
      'webp',
      '40x20',
    ],
    ['SVG', async () => SVG, 'image/svg+xml', 'svg', 'any'],
    [
      'SVG with a prolog',
      async () => `\uFEFF<?xml version="1.0"?>\n<!-- a -->\n${SVG}\n`,
      'image/svg+xml',
      'svg',
      'any',
    ],
    [
      'SVG that refers to itself',
      async () => SVG.replace('</svg>', '<use href="#a" fill="url(#b)"/></svg>'),
      'image/svg+xml',
      'svg',
      'any',
    ],
  ])('the format of a logo is detected: %s', async (name, make, mediaType, extension, sizes) => {
    const { logo, page } = await brandOf({ SITE_LOGO: await fileOf(`${name}.txt`, await make()) });
    expect(logo).toMatchObject({ mediaType, sizes });
    expect(logo?.address).toMatch(new RegExp(`^/brand/[\\w-]{22}\\.${extension}$`));
    expect(page).toEqual({ logo: logo?.address });
  });

  test('the URL of a logo changes only with its content', async () => {
    const addressOf = async (path: string) => (await brandOf({ SITE_LOGO: path })).page.logo;
    const first = await addressOf(await fileOf('one.svg', SVG));
    expect(await addressOf(await fileOf('same.svg', SVG))).toBe(first);
    expect(await addressOf(await fileOf('other.svg', SVG.replace('16', '15')))).not.toBe(first);
  });
});

describe('refused logos', () => {
  test.each<[string, () => Promise<string | Buffer>, string]>([
    ['empty', async () => '', 'is empty'],
    ['an HTML page', async () => '<!doctype html><svg></svg>', 'is not a PNG, SVG or WebP picture'],
    ['JPEG', () => picture().jpeg().toBuffer(), 'is not a PNG, SVG or WebP picture'],
    [
      'a truncated PNG',
      async () => (await picture().png().toBuffer()).subarray(0, -20),
      'is a damaged PNG picture; save it again',
    ],
    [
      'a PNG with a corrupt byte',
      async () => {
        const bytes = await picture().png().toBuffer();
        bytes[50] = 1 ^ (bytes[50] ?? 0);
        return bytes;
      },
      'is a damaged PNG picture; save it again',
    ],
    [
      'a truncated WebP',
      async () => (await picture().webp().toBuffer()).subarray(0, -2),
      'is a damaged WebP picture; save it again',
    ],
    ['too many pixels', () => picture(1_025, 3).png().toBuffer(), 'has 1025×3 pixels; at most 1024×1024 are allowed'],
    [
      'SVG without a namespace',
      async () => '<svg></svg>',
      'is an SVG picture without xmlns="http://www.w3.org/2000/svg", which browsers need',
    ],
    ['SVG that is cut off', async () => SVG.slice(0, -3), 'is a damaged SVG picture; it must end with </svg>'],
    [
      'SVG with a script',
      async () => SVG.replace('<circle', '<script>1</script><circle'),
      'contains scripts, event handlers or <foreignObject>; remove them',
    ],
    [
      'SVG with a handler',
      async () => SVG.replace('<circle', '<circle onload="a()"'),
      'contains scripts, event handlers or <foreignObject>; remove them',
    ],
    [
      'SVG with entities',
      async () => `<!DOCTYPE svg [<!ENTITY a "b">]>${SVG}`,
      'has a document type; save it as plain SVG without one',
    ],
    [
      'SVG that refers to another picture',
      async () => SVG.replace('</svg>', '<image href="https://a.example/b.png"/></svg>'),
      'refers to other files, which browsers would not load; embed them',
    ],
    [
      'SVG that imports a style sheet',
      async () => SVG.replace('</svg>', '<style>@import "a.css"</style></svg>'),
      'refers to other files, which browsers would not load; embed them',
    ],
  ])('a logo is refused with a reason: %s', async (name, make, reason) => {
    const path = await fileOf(`${name}.svg`, await make());
    expect(await errorsOf({ SITE_LOGO: path })).toBe(`SITE_LOGO: DIR/${name}.svg ${reason}`);
  });

  test('a missing file, a folder, or a file that is too large is refused as a logo', async () => {
    expect(await errorsOf({ SITE_LOGO: join(folder, 'none.svg') })).toBe(
      'SITE_LOGO: DIR/none.svg cannot be used: there is no such file',
    );
    expect(await errorsOf({ SITE_LOGO: folder })).toBe('SITE_LOGO: DIR cannot be used: it is not a file');
    const large = await fileOf('large.svg', SVG.padEnd(32 * 1024 + 1));
    expect(await errorsOf({ SITE_LOGO: large })).toBe(
      'SITE_LOGO: DIR/large.svg cannot be used: the file is larger than 32 KiB',
    );
    expect(await errorsOf({ SITE_LOGO: '/dev/zero' })).toContain('it is not a file');
  });
});

const ARTICLE = { title: 'A', excerpt: 'B', author: 'C', subtitle: 'D' };

describe('articles', () => {
  test('the example articles of the documentation are accepted', async () => {
    const { page } = await brandOf({ SITE_ARTICLES: join(PACKAGE_ROOT, 'examples/articles.json') });
    expect(page.articles).toEqual(JSON.parse(await readFile(join(PACKAGE_ROOT, 'examples/articles.json'), 'utf8')));
  });

  test.each<[string, unknown, string]>([
    ['two articles', [ARTICLE, ARTICLE], ' must be an array of exactly 3 articles, but has 2'],
    ['an object instead of an array', { articles: [] }, ' must be an array of exactly 3 articles, but is not an array'],
    [
      'an article that is not an object',
      [ARTICLE, 'B', ARTICLE],
      ': article 2 must be an object with the fields title, excerpt, author, subtitle',
    ],
    ['a missing field', [ARTICLE, ARTICLE, { ...ARTICLE, author: undefined }], ': article 3 has no "author"'],
    [
      'an unknown field',
      [{ ...ARTICLE, url: '/' }, ARTICLE, ARTICLE],
      ': article 1 has the unknown field "url"; the fields are title, excerpt, author, subtitle',
    ],
    [
      'an unknown field with the name of a property that every object has',
      [{ ...ARTICLE, constructor: '/' }, ARTICLE, ARTICLE],
      ': article 1 has the unknown field "constructor"; the fields are title, excerpt, author, subtitle',
    ],
    ['a field with a number', [{ ...ARTICLE, title: 1 }, ARTICLE, ARTICLE], ': article 1: "title" must be text'],
    ['an empty field', [{ ...ARTICLE, excerpt: ' \n ' }, ARTICLE, ARTICLE], ': article 1: "excerpt" is empty'],
    [
      'a long field',
      [ARTICLE, { ...ARTICLE, subtitle: '波'.repeat(121) }, ARTICLE],
      ': article 2: "subtitle" has 121 characters; at most 120 are allowed',
    ],
  ])('articles are refused with a reason: %s', async (_name, value, reason) => {
    const path = await fileOf('articles.json', JSON.stringify(value));
    expect(await errorsOf({ SITE_ARTICLES: path })).toBe(`SITE_ARTICLES: DIR/articles.json${reason}`);
  });

  test('text that is not JSON is refused, and all errors are reported at once', async () => {
    const path = await fileOf('broken.json', '[{]');
    const errors = await errorsOf({ SITE_ARTICLES: path, SITE_LOGO: join(folder, 'none') });
    expect(errors.split('\n')).toEqual([
      'SITE_LOGO: DIR/none cannot be used: there is no such file',
      expect.stringMatching(/^SITE_ARTICLES: DIR\/broken\.json is not JSON: /),
    ]);
  });
});

test('a tagline is one line of at most 160 characters', async () => {
  expect((await brandOf({ SITE_TAGLINE: ' Tools\n for  teachers ' })).page).toEqual({ tagline: 'Tools for teachers' });
  expect(() => readSettings({ SITE_TAGLINE: 'x'.repeat(161) })).toThrow(
    'SITE_TAGLINE: this is longer than 160 characters',
  );
});
