import { readdir } from 'node:fs/promises';

/** The folder that holds products.json and pictures/. */
export const catalogueFolder = new URL('../../', import.meta.url);
export const picturesFolder = new URL('pictures/', catalogueFolder);

/** Every product described in data/, in the order of the files. */
export async function readProducts() {
  const folder = new URL('../data/', import.meta.url);
  const files = (await readdir(folder)).filter((file) => file.endsWith('.mjs') && file !== 'comments.mjs').sort();
  const modules = await Promise.all(files.map((file) => import(new URL(file, folder))));
  return modules.flatMap((module) => module.default);
}

/** "José Valim" → "jose-valim". */
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

/** A small deterministic generator (mulberry32), so that every run writes the same files. */
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
