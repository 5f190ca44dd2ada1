// Writes src/web/assets/funnel-display.woff2, a subset of the display font with Latin-1 characters and common symbols.
// Run it manually (`npm install && npm run subset` in this folder) after updating the font. The result is committed, so
// builds do not need this tool.
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import subsetFont from 'subset-font';

const BUDGET_BYTES = 30 * 1024;
const assets = new URL('../../src/web/assets/', import.meta.url);
const packageJson = createRequire(import.meta.url).resolve('@fontsource-variable/funnel-display/package.json');
const source = new URL('files/funnel-display-latin-wght-normal.woff2', `file://${packageJson}`);

const range = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index));
const characters = [...range(0x20, 0x7e), ...range(0xa0, 0xff), ...'‘’‚“”„–—…•·×→←↑↓€™'].join('');

const subset = await subsetFont(await readFile(source), characters, {
  targetFormat: 'woff2',
  variationAxes: { wght: { min: 400, max: 800 } },
});
if (subset.length > BUDGET_BYTES)
  throw new Error(`The font has ${subset.length} bytes, but the budget is ${BUDGET_BYTES}`);
await writeFile(new URL('funnel-display.woff2', assets), subset);
await copyFile(new URL('LICENSE', `file://${packageJson}`), new URL('funnel-display-OFL.txt', assets));
console.log(`funnel-display.woff2: ${subset.length} bytes`);
