import { open, stat } from 'node:fs/promises';
import type { Article, PageBrand } from '../contract/site.ts';
import { type Accent, accentStyle } from './accent.ts';
import { type Logo, readLogo } from './logo.ts';
import { type Settings, SettingsError } from './settings.ts';

/** An operator's branding, with the content of its files. Unset properties leave the default look unchanged. */
export interface Brand {
  /** The part that pages show. */
  page: PageBrand;
  /** The file served at the path `page.logo`. */
  logo?: Logo;
  accent?: Accent;
  /** The CSS that sets the accent on every page. */
  style?: string;
}

export const NO_BRAND: Brand = { page: {} };

/** The limit is small, because each badge contains the logo, and the response cache contains thousands of badges. */
const MAX_LOGO_BYTES = 32 * 1024;
const MAX_ARTICLES_BYTES = 32 * 1024;

/** Reads the files that the settings name. @throws SettingsError with all errors. */
export async function readBrand({ siteTagline, siteLogo, accent, siteArticles }: BrandSettings): Promise<Brand> {
  const errors: string[] = [];
  const attempt = async <Value>(name: string, path: string | undefined, read: (path: string) => Promise<Value>) => {
    if (path === undefined) return undefined;
    return read(path).catch((error: Error) => {
      errors.push(`${name}: ${error.message}`);
      return undefined;
    });
  };
  const logo = await attempt('SITE_LOGO', siteLogo, async (path) =>
    readLogo(await readBounded(path, MAX_LOGO_BYTES), path),
  );
  const articles = await attempt('SITE_ARTICLES', siteArticles, async (path) =>
    readArticles((await readBounded(path, MAX_ARTICLES_BYTES)).toString('utf8'), path),
  );
  if (errors.length > 0) throw new SettingsError(errors);
  return {
    page: {
      ...(siteTagline !== undefined && { tagline: siteTagline }),
      ...(logo && { logo: logo.address }),
      ...(articles && { articles }),
    },
    ...(logo && { logo }),
    ...(accent && { accent, style: accentStyle(accent) }),
  };
}

type BrandSettings = Pick<Settings, 'siteTagline' | 'siteLogo' | 'accent' | 'siteArticles'>;

/** Reads at most one byte more than allowed, so a large file does not fill memory. */
async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  try {
    // Opening a named pipe would wait for a writer, so the file type is checked first.
    if (!(await stat(path)).isFile()) throw new Error('it is not a file');
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0);
      if (bytesRead > maxBytes) throw new Error(`the file is larger than ${maxBytes / 1024} KiB`);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const reason = REASONS[String(code)] ?? (error instanceof Error ? error.message : String(error));
    throw new Error(`${path} cannot be used: ${reason}`, { cause: error });
  }
}

const REASONS: Record<string, string | undefined> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'there is no such file',
};

const ARTICLES = 3;
const MAX_CHARACTERS = { title: 120, excerpt: 400, author: 80, subtitle: 120 } as const satisfies Record<
  keyof Article,
  number
>;

/** Parses the content of SITE_ARTICLES. @throws Error that says what is invalid. */
function readArticles(text: string, path: string): Article[] {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new Error(`${path} is not JSON: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
  if (!Array.isArray(value) || value.length !== ARTICLES) {
    const found = Array.isArray(value) ? `has ${value.length}` : 'is not an array';
    throw new Error(`${path} must be an array of exactly ${ARTICLES} articles, but ${found}`);
  }
  return value.map((article: unknown, index) => readArticle(article, `${path}: article ${index + 1}`));
}

function readArticle(value: unknown, where: string): Article {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${where} must be an object with the fields ${Object.keys(MAX_CHARACTERS).join(', ')}`);
  }
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(MAX_CHARACTERS, name));
  if (unknown !== undefined) {
    throw new Error(
      `${where} has the unknown field "${unknown}"; the fields are ${Object.keys(MAX_CHARACTERS).join(', ')}`,
    );
  }
  const field = (name: keyof Article): string => {
    const text = (value as Record<string, unknown>)[name];
    if (text === undefined) throw new Error(`${where} has no "${name}"`);
    if (typeof text !== 'string') throw new Error(`${where}: "${name}" must be text`);
    const trimmed = text.replaceAll(/\s+/g, ' ').trim();
    if (trimmed === '') throw new Error(`${where}: "${name}" is empty`);
    const characters = [...trimmed].length;
    if (characters > MAX_CHARACTERS[name]) {
      throw new Error(`${where}: "${name}" has ${characters} characters; at most ${MAX_CHARACTERS[name]} are allowed`);
    }
    return trimmed;
  };
  return { title: field('title'), excerpt: field('excerpt'), author: field('author'), subtitle: field('subtitle') };
}
