import { spawnSync } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isProductId } from '../../src/contract/products/fields.ts';
import { readSampleCatalogue, SAMPLE_SESSION_PREFIX } from '../../src/core/catalogue/sample-catalogue.ts';
import { isUuid } from '../../src/core/runtime.ts';
import { PACKAGE_FOLDERS } from '../../src/settings/package-root.ts';
import { filesBelow, ROOT, readText } from './source-files.ts';

const MAX_PICTURE_BYTES = 8 * 1024 * 1024;

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const { products, comments, upvotes } = await readSampleCatalogue(PACKAGE_FOLDERS.catalogue);
const sizes: Record<string, { width: number; height: number }> = JSON.parse(await readText('catalogue/pictures.json'));
const pictures = await filesBelow('catalogue/pictures');

test("the catalogue's own check finds no errors", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['catalogue/tools/check.mjs'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: '' });
});

describe('the sample products', () => {
  test('number at least 48, in at least 10 categories, with unique ids and creation times', () => {
    expect(products.length).toBeGreaterThanOrEqual(48);
    expect(new Set(products.map(({ category }) => category)).size).toBeGreaterThanOrEqual(10);
    expect(new Set(products.map(({ id }) => id)).size).toBe(products.length);
    expect(new Set(products.map(({ createdAt }) => createdAt)).size).toBe(products.length);
    expect(products.filter(({ id }) => !isProductId(id))).toEqual([]);
  });

  test('have 3 to 6 tags, two to four sentences, a team and at least two screenshots', () => {
    for (const { id, tags, description, team, screenshots } of products) {
      expect(tags.length, id).toBeGreaterThanOrEqual(3);
      expect(tags.length, id).toBeLessThanOrEqual(6);
      const count = [...sentences.segment(description)].length;
      expect(count, id).toBeGreaterThanOrEqual(2);
      expect(count, id).toBeLessThanOrEqual(4);
      expect(team.length, id).toBeGreaterThanOrEqual(1);
      expect(screenshots.length, id).toBeGreaterThanOrEqual(2);
    }
  });

  test('have pictures that are in the catalogue and whose sizes are in pictures.json', () => {
    const named = products.flatMap(({ image, screenshots, team }) => [
      image,
      ...screenshots,
      ...team.map(({ avatar }) => avatar),
    ]);
    const there = new Set(pictures.map((path) => path.slice('catalogue'.length)));
    expect(named.filter((address) => !there.has(address) || sizes[address] === undefined)).toEqual([]);
  });

  test('contain only https links', () => {
    const text = JSON.stringify([products, comments]).replaceAll('\\n', ' ');
    const addresses = text.match(/\b[a-z]+:\/\/[^\s"\\]+/g) ?? [];
    expect(addresses.length).toBeGreaterThan(0);
    expect(addresses.filter((address) => !address.startsWith('https://'))).toEqual([]);
  });
});

describe('the sample engagement', () => {
  test('is marked as a sample, belongs to sample products, and is small', () => {
    const ids = new Set(products.map(({ id }) => id));
    expect(comments.filter(({ authorBadge }) => authorBadge !== 'Sample')).toEqual([]);
    expect(comments.filter(({ id, productId }) => !isUuid(id) || !ids.has(productId))).toEqual([]);
    expect(upvotes.filter(({ productId }) => !ids.has(productId))).toEqual([]);
    expect(upvotes.filter(({ session }) => !session.startsWith(SAMPLE_SESSION_PREFIX))).toEqual([]);
    expect(comments.length).toBeLessThan(products.length);
    expect(upvotes.length).toBeLessThan(products.length * 10);
  });
});

test('all sample pictures together have at most 8 MiB', async () => {
  const bytes = await Promise.all(pictures.map(async (path) => (await stat(join(ROOT, path))).size));
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_PICTURE_BYTES);
});
