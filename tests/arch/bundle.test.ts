import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Manifest } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadSample } from '../../src/core/catalogue/load-sample.ts';
import { readSampleCatalogue } from '../../src/core/catalogue/sample-catalogue.ts';
import { createCore } from '../../src/core/core.ts';
import { systemSources } from '../../src/core/sources.ts';
import { coreApi } from '../../src/server/core-api.ts';
import { readClientBuild } from '../../src/server/pages/client-build.ts';
import { createPageRenderer } from '../../src/server/pages/renderer.ts';
import { PACKAGE_FOLDERS } from '../../src/settings/package-root.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { filesBelow, ROOT } from './source-files.ts';

// What the first visit to `/` may cost. `npm test` builds before it comes here; by hand: `npm run build`.

const KIB = 1024;
const BUDGET_BYTES = { javascript: 110_000, css: 20 * KIB, font: 30 * KIB, html: 30 * KIB };

const CLIENT = PACKAGE_FOLDERS.client;
if (!existsSync(join(CLIENT, 'manifest.json'))) throw new Error('The site is not built: run npm run build first');
const manifest: Manifest = JSON.parse(await readFile(join(CLIENT, 'manifest.json'), 'utf8'));

/** Names in the manifest of what the first view of `/` runs: both scripts of the document, and the home page's route. */
const FIRST_VIEW = ['src/web/entry-client.tsx', 'src/web/theme.ts', 'src/web/routes/home/home.tsx'];

describe('the first load of /', () => {
  const { scripts, styles } = filesOf(FIRST_VIEW);

  test('has at most 110 KB of JavaScript, as gzip', async () => {
    expect(scripts.size).toBeGreaterThan(1);
    expect(await gzipBytes(scripts)).toBeLessThanOrEqual(BUDGET_BYTES.javascript);
  });

  test('has at most 20 KiB of CSS, as gzip', async () => {
    expect(styles.size).toBeGreaterThan(0);
    expect(await gzipBytes(styles)).toBeLessThanOrEqual(BUDGET_BYTES.css);
  });

  test('has one font of at most 30 KiB', async () => {
    const fonts = (await filesBelow('dist/client')).filter((path) => /\.(?:woff2?|ttf|otf)$/.test(path));
    expect(fonts).toHaveLength(1);
    for (const font of fonts) expect((await readFile(join(ROOT, font))).length).toBeLessThanOrEqual(BUDGET_BYTES.font);
  });
});

/** Texts that give a server's package away, each with a file of the package that has it. */
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

describe('the browser gets nothing of the server', () => {
  test.each(SERVER_PACKAGES)('no code of %s', async (_name, text, file) => {
    expect(await readFile(join(ROOT, file), 'utf8')).toContain(text);
    const scripts = (await filesBelow('dist/client')).filter((path) => path.endsWith('.js'));
    for (const script of scripts) expect(await readFile(join(ROOT, script), 'utf8'), script).not.toContain(text);
  });
});

test('what nothing uses of the router is left out', async () => {
  // A browser's form that the router sends: whoever uses its forms one day takes this test away.
  const text = 'multipart/form-data';
  const scripts = (await filesBelow('dist/client')).filter((path) => path.endsWith('.js'));
  for (const script of scripts) expect(await readFile(join(ROOT, script), 'utf8'), script).not.toContain(text);
});

describe('the document of / with the sample catalogue', () => {
  let database: TestDatabase;
  let html: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    await loadSample(database, await readSampleCatalogue(PACKAGE_FOLDERS.catalogue), systemSources);
    const renderer = createPageRenderer({
      siteName: 'Groundswell',
      siteUrl: () => 'http://groundswell.test',
      build: await readClientBuild(CLIENT),
    });
    const page = await renderer.render('/', coreApi(createCore(database)));
    expect(page).toMatchObject({ status: 200, problems: [] });
    html = page.html;
  });

  afterAll(() => database.drop());

  test('has at most 30 KiB, as gzip and as the server compresses it', () => {
    expect(gzipSync(html, { level: 9 }).length).toBeLessThanOrEqual(BUDGET_BYTES.html);
    const brotli = brotliCompressSync(html, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
    expect(brotli.length).toBeLessThanOrEqual(BUDGET_BYTES.html);
  });

  test('needs nothing that the content security policy forbids: no inline style, script or handler', () => {
    expect(html).not.toMatch(/<[^>]+\sstyle=/);
    expect(html).not.toMatch(/<style/);
    expect(html).not.toMatch(/<[^>]+\son[a-z]+=/);
    const scripts = html.match(/<script[^>]*>/g) ?? [];
    expect(scripts.length).toBeGreaterThan(1);
    expect(scripts.filter((tag) => !/ src="|type="application\/(?:ld\+)?json"/.test(tag))).toEqual([]);
  });

  test('asks at once for all that the first view runs, and for nothing else', () => {
    const named = [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(
      ([, file]) => file,
    );
    expect(named.sort()).toEqual([...filesOf(FIRST_VIEW).scripts].sort());
  });

  test('names only files that the build has', () => {
    const addresses = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => String(match[1]));
    expect(addresses.length).toBeGreaterThan(2);
    expect(addresses.filter((address) => !existsSync(join(CLIENT, address)))).toEqual([]);
  });
});

/** The files of these entries and of all that they import at once. */
function filesOf(names: readonly string[]): { scripts: Set<string>; styles: Set<string> } {
  const scripts = new Set<string>();
  const styles = new Set<string>();
  const visit = (name: string): void => {
    const chunk = manifest[name];
    if (chunk === undefined) throw new Error(`The build has no ${name}`);
    if (scripts.has(chunk.file)) return;
    scripts.add(chunk.file);
    for (const style of chunk.css ?? []) styles.add(style);
    chunk.imports?.forEach(visit);
  };
  names.forEach(visit);
  return { scripts, styles };
}

async function gzipBytes(files: Iterable<string>): Promise<number> {
  const sizes = await Promise.all(
    [...files].map(async (file) => gzipSync(await readFile(join(CLIENT, file)), { level: 9 }).length),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
