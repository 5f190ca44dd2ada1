import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Manifest } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadSample } from '../../src/core/catalogue/load-sample.ts';
import { readSampleCatalogue } from '../../src/core/catalogue/sample-catalogue.ts';
import { createCore } from '../../src/core/core.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { readClientBuild } from '../../src/server/pages/client-build.ts';
import { createPageRenderer } from '../../src/server/pages/pages.ts';
import { PACKAGE_FOLDERS } from '../../src/settings/package-root.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { ROOT } from './source-files.ts';

// Checks the size budgets of the first visit to `/`, a product or the console. Needs a build (`npm run build`).

const KIB = 1024;
const BUDGET_BYTES = { home: 84_000, product: 84 * KIB, css: 20 * KIB, font: 30 * KIB, html: 30 * KIB };
/** The size budget of the console's first screen. */
const CONSOLE_BUDGET_BYTES = 180 * KIB;

/**
 * Replaces the content hashes of file names in a script with hashes of the names. Otherwise, the compressed size would
 * vary by up to 40 bytes with every change of any file.
 */
function withStableHashes(script: string): string {
  return script.replace(/([\w.-]+)-[\w-]{8}\.js/g, (_, name: string) => {
    return `${name}-${createHash('sha256').update(name).digest('base64url').slice(0, 8)}.js`;
  });
}

const { client: CLIENT, console: CONSOLE } = PACKAGE_FOLDERS;
const manifest = await readManifest(CLIENT);
/** The files of this build. The folder also has assets of replaced builds. */
const FILES = Object.values(manifest).map(({ file }) => file);

/**
 * The manifest entries whose code the first view of `/` runs in addition to the inline head script: the app and the
 * home page's route.
 */
const FIRST_VIEW = ['src/web/entry-client.tsx', 'src/web/routes/home/home.tsx'];

describe('the first load of a page', () => {
  test.each([
    ['home', FIRST_VIEW],
    ['product', ['src/web/entry-client.tsx', 'src/web/routes/product/product.tsx']],
  ] as const)('has no more JavaScript, compressed with Brotli, than the budget of the %s page', async (page, names) => {
    const files = [...filesOf(names)];
    expect(files.length).toBeGreaterThan(1);
    const scripts = await Promise.all(files.map((file) => readFile(join(CLIENT, file), 'utf8')));
    const bytes = scripts.reduce((sum, script) => sum + brotliCompressSync(withStableHashes(script)).length, 0);
    expect(bytes).toBeLessThanOrEqual(BUDGET_BYTES[page]);
  });

  test('has at most 20 KiB of CSS, compressed with gzip', async () => {
    const { file = '' } = manifest['style.css'] ?? {};
    const style = await readFile(join(CLIENT, file));
    expect(gzipSync(style, { level: 9 }).length).toBeLessThanOrEqual(BUDGET_BYTES.css);
  });

  test('has one font of at most 30 KiB', async () => {
    const fonts = FILES.filter((file) => /\.(?:woff2?|ttf|otf)$/.test(file));
    expect(fonts).toHaveLength(1);
    for (const font of fonts)
      expect((await readFile(join(CLIENT, font))).length).toBeLessThanOrEqual(BUDGET_BYTES.font);
  });
});

/** Server-side packages, each with a text that identifies its code and a file of the package that contains the text. */
const SERVER_PACKAGES: [name: string, text: string, file: string][] = [
  ['typebox', '~kind', 'node_modules/typebox/build/type/types/array.mjs'],
  [
    'ajv',
    'must NOT have additional properties',
    'node_modules/ajv/dist/vocabularies/applicator/additionalProperties.js',
  ],
  ['pg', 'SCRAM-SHA-256', 'node_modules/pg/lib/crypto/sasl.js'],
  ['fastify', 'FST_ERR_', 'node_modules/fastify/lib/errors.js'],
  ['react-dom/server', 'renderToPipeableStream', 'node_modules/react-dom/server.node.js'],
];

describe('the client build', () => {
  test.each(SERVER_PACKAGES)('contains no code of %s', async (_name, text, file) => {
    expect(await readFile(join(ROOT, file), 'utf8')).toContain(text);
    const scripts = [...FILES, 'service-worker.js'].filter((file) => file.endsWith('.js'));
    for (const script of scripts) expect(await readFile(join(CLIENT, script), 'utf8'), script).not.toContain(text);
  });
});

describe('the console, which is built separately', () => {
  test('adds no modules or URLs to the client build', async () => {
    expect(JSON.stringify(manifest)).not.toContain('src/console');
    const scripts = FILES.filter((file) => file.endsWith('.js'));
    expect(scripts.length).toBeGreaterThan(5);
    for (const script of [...scripts, 'service-worker.js'])
      expect(await readFile(join(CLIENT, script), 'utf8'), script).not.toMatch(/\/console\b|uPlot/);
  });

  test('loads at most 180 KiB of scripts, compressed with gzip, before its first screen', async () => {
    const names = filesOf(['src/console/entry.tsx'], await readManifest(CONSOLE));
    const scripts = await Promise.all([...names].map((name) => readFile(join(CONSOLE, name))));
    const bytes = scripts.reduce((sum, script) => sum + gzipSync(script, { level: 9 }).length, 0);
    expect(bytes).toBeLessThanOrEqual(CONSOLE_BUDGET_BYTES);
  });
});

describe('the document of / with the sample catalogue', () => {
  let database: TestDatabase;
  let html: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    await loadSample(database, await readSampleCatalogue(PACKAGE_FOLDERS.catalogue), systemRuntime);
    const renderer = createPageRenderer({
      site: { name: 'Groundswell', url: () => 'http://groundswell.test' },
      build: await readClientBuild(CLIENT),
    });
    const page = await renderer.render('/', createCore(database));
    expect(page).toMatchObject({ status: 200, problems: [] });
    html = page.html;
  });

  afterAll(() => database.drop());

  test('has at most 30 KiB, compressed with gzip, or with Brotli at the quality that the server uses', () => {
    expect(gzipSync(html, { level: 9 }).length).toBeLessThanOrEqual(BUDGET_BYTES.html);
    const brotli = brotliCompressSync(html, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
    expect(brotli.length).toBeLessThanOrEqual(BUDGET_BYTES.html);
  });

  test('loads no script before the first paint, and then exactly the scripts of the first view', () => {
    expect(html).not.toMatch(/<(?:script|link)[^>]* (?:src|href)="[^"]+\.js"/);
    const [, app, modules] = /<script data-app="\/([^"]+)" data-modules="([^"]*)"/.exec(html) ?? [];
    const named = [app, ...(modules ?? '').split(' ').map((address) => address.slice(1))];
    expect(named.sort()).toEqual([...filesOf(FIRST_VIEW)].sort());
  });

  test('references only files that the build contains', () => {
    const addresses = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => String(match[1]));
    expect(addresses.length).toBeGreaterThan(1);
    expect(addresses.filter((address) => !existsSync(join(CLIENT, address)))).toEqual([]);
  });
});

async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, 'manifest.json');
  if (!existsSync(path)) throw new Error('The site is not built. Run `npm run build` first.');
  return JSON.parse(await readFile(path, 'utf8'));
}

/** Returns the scripts of these entries and of all their static imports. */
function filesOf(names: readonly string[], build = manifest): Set<string> {
  const scripts = new Set<string>();
  const visit = (name: string): void => {
    const chunk = build[name];
    if (chunk === undefined) throw new Error(`The build has no ${name}`);
    if (scripts.has(chunk.file)) return;
    scripts.add(chunk.file);
    chunk.imports?.forEach(visit);
  };
  names.forEach(visit);
  return scripts;
}
