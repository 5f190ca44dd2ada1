// Writes pictures.json: the width and height of every picture, by its public address.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { catalogueFolder, picturesFolder } from './lib/catalogue.mjs';
import { pictureDimensions } from './lib/dimensions.mjs';

const files = (await readdir(picturesFolder, { recursive: true })).filter((file) => /\.(svg|webp)$/.test(file)).sort();
const sizes = {};
for (const file of files) sizes[`/pictures/${file}`] = pictureDimensions(await readFile(new URL(file, picturesFolder)));
const lines = Object.entries(sizes).map(([url, size]) => `  ${JSON.stringify(url)}: ${JSON.stringify(size)}`);
await writeFile(new URL('pictures.json', catalogueFolder), `{\n${lines.join(',\n')}\n}\n`);
console.log(`${files.length} pictures`);
