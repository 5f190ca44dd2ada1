import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import opentype from 'opentype.js';

const require = createRequire(import.meta.url);
const read = (file) => {
  const bytes = readFileSync(require.resolve(`@fontsource/inter/files/${file}`));
  return opentype.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
};
const latin = read('inter-latin-700-normal.woff');
const latinExtended = read('inter-latin-ext-700-normal.woff');

/** Draws letters as one SVG path centred on (x, y), so the picture looks the same whatever fonts are installed. */
export function letteringPath(text, { x, y, size, fill }) {
  const font = [...text].every((char) => latin.charToGlyphIndex(char) > 0) ? latin : latinExtended;
  const middle = font.tables.os2.sCapHeight / font.unitsPerEm / 2;
  // Places each glyph separately, because the parser does not support all substitution tables of the font.
  const path = new opentype.Path();
  let pen = 0;
  for (const char of text) {
    const glyph = font.charToGlyph(char);
    path.extend(glyph.getPath(pen, 0, size));
    pen += (glyph.advanceWidth / font.unitsPerEm) * size;
  }
  const box = path.getBoundingBox();
  const [dx, dy] = [x - (box.x1 + box.x2) / 2, y + middle * size];
  return `<path fill="${fill}" transform="translate(${dx.toFixed(2)} ${dy.toFixed(2)})" d="${path.toPathData(1)}"/>`;
}
