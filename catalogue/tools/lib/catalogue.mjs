import { readFile } from 'node:fs/promises';

/** The folder that contains products.json and pictures/. */
export const catalogueFolder = new URL('../../', import.meta.url);
export const picturesFolder = new URL('pictures/', catalogueFolder);

export const readJson = async (file) => JSON.parse(await readFile(new URL(file, catalogueFolder), 'utf8'));

/** Reads the products, each with its entry in tiles.json as `tile`. Throws an error if a product has no entry. */
export async function readProducts() {
  const [products, tiles] = await Promise.all([readJson('products.json'), readJson('tools/tiles.json')]);
  const missing = products.filter(({ id }) => !Object.hasOwn(tiles, id)).map(({ id }) => id);
  if (missing.length > 0)
    throw new Error(`No tile for ${missing.join(', ')}. Add colors and logo to catalogue/tools/tiles.json.`);
  return products.map((product) => ({ ...product, tile: tiles[product.id] }));
}

/** Converts a name to a file name, for example "José Valim" to "jose-valim". */
export function slugOf(name) {
  return name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/ø/g, 'o')
    .replace(/[’']/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Returns a random number generator (mulberry32) with the text as its seed, so every run writes the same files. */
export function seededRandom(text) {
  let state = 2166136261;
  for (const char of text) state = Math.imul(state ^ char.codePointAt(0), 16777619);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
