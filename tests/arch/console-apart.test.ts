import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Manifest } from 'vite';
import { expect, test } from 'vitest';
import { PACKAGE_FOLDERS } from '../../src/settings/package-root.ts';

const { client, console: consoleDir } = PACKAGE_FOLDERS;
if (!existsSync(join(consoleDir, 'manifest.json'))) throw new Error('The site is not built: run npm run build first');

const read = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));

/** The size budget of the console's first screen. */
const MAX_SCRIPT_BYTES = 180 * 1024;

test('the client build contains no modules and no URLs of the console', async () => {
  const manifest = await read(client);
  expect(JSON.stringify(manifest)).not.toContain('src/console');
  const files = Object.values(manifest).flatMap(({ file }) => (file.endsWith('.js') ? [file] : []));
  expect(files.length).toBeGreaterThan(5);
  for (const name of [...files, 'service-worker.js'])
    expect(await readFile(join(client, name), 'utf8'), name).not.toMatch(/\/console\b|uPlot/);
});

test('the console loads at most 180 KiB of scripts, compressed with gzip, before its first screen', async () => {
  const manifest = await read(consoleDir);
  const names = new Set<string>();
  const visit = (name: string): void => {
    const chunk = manifest[name];
    if (chunk === undefined || names.has(chunk.file)) return;
    names.add(chunk.file);
    chunk.imports?.forEach(visit);
  };
  visit('src/console/entry.tsx');
  expect(names.size).toBeGreaterThan(0);
  const files = await Promise.all([...names].map((name) => readFile(join(consoleDir, name))));
  const bytes = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
  expect(bytes).toBeLessThanOrEqual(MAX_SCRIPT_BYTES);
});
