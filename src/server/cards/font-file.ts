/** What a TrueType file says about its characters. */
export interface FontFile {
  /** Whether the font can show a character. */
  has(codePoint: number): boolean;
  /** How wide a character is, in parts of the font's size; that of a character that it lacks is undefined. */
  advance(codePoint: number): number | undefined;
}

/** A run of characters in the font's own table: each has the glyph `glyph + (character - first)`, or one of a list. */
interface Segment {
  first: number;
  last: number;
  glyphOf(codePoint: number): number;
}

/**
 * Reads the tables `cmap` and `hmtx` of a TrueType font (OpenType 1.9, formats 4 and 12, which every font of today has).
 * @throws RangeError where the file is cut off, Error where it has no such table.
 */
export function readFontFile(bytes: Buffer): FontFile {
  const segments = readCharacterMap(bytes, tableAt(bytes, 'cmap'));
  const unitsPerEm = bytes.readUInt16BE(tableAt(bytes, 'head') + 18);
  const metricsCount = bytes.readUInt16BE(tableAt(bytes, 'hhea') + 34);
  const metrics = tableAt(bytes, 'hmtx');

  function glyphOf(codePoint: number): number {
    let [low, high] = [0, segments.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const segment = segments[middle];
      if (segment === undefined) return 0;
      if (codePoint > segment.last) low = middle + 1;
      else if (codePoint < segment.first) high = middle - 1;
      else return segment.glyphOf(codePoint);
    }
    return 0;
  }

  return {
    has: (codePoint) => glyphOf(codePoint) !== 0,
    advance(codePoint) {
      const glyph = glyphOf(codePoint);
      if (glyph === 0) return undefined;
      // The last width stands for all further glyphs.
      return bytes.readUInt16BE(metrics + Math.min(glyph, metricsCount - 1) * 4) / unitsPerEm;
    },
  };
}

function tableAt(bytes: Buffer, tag: string): number {
  const count = bytes.readUInt16BE(4);
  for (let record = 12; record < 12 + count * 16; record += 16) {
    if (bytes.toString('latin1', record, record + 4) === tag) return bytes.readUInt32BE(record + 8);
  }
  throw new Error(`The font has no table ${tag}`);
}

/** Of the font's maps, one of all of Unicode where there is one, and else one of its first plane. */
function readCharacterMap(bytes: Buffer, cmap: number): Segment[] {
  let best: { format: number; at: number } | undefined;
  for (let index = 0; index < bytes.readUInt16BE(cmap + 2); index += 1) {
    const at = cmap + bytes.readUInt32BE(cmap + 8 + index * 8);
    const format = bytes.readUInt16BE(at);
    if ((format === 12 || format === 4) && format > (best?.format ?? 0)) best = { format, at };
  }
  if (best === undefined) throw new Error('The font has no character map of a known format');
  return best.format === 12 ? readFormat12(bytes, best.at) : readFormat4(bytes, best.at);
}

function readFormat12(bytes: Buffer, at: number): Segment[] {
  return Array.from({ length: bytes.readUInt32BE(at + 12) }, (_, index) => {
    const group = at + 16 + index * 12;
    const [first, last, glyph] = [0, 4, 8].map((field) => bytes.readUInt32BE(group + field)) as [
      number,
      number,
      number,
    ];
    return { first, last, glyphOf: (codePoint: number) => glyph + codePoint - first };
  });
}

function readFormat4(bytes: Buffer, at: number): Segment[] {
  const size = bytes.readUInt16BE(at + 6);
  const [ends, starts, deltas, offsets] = [14, 16 + size, 16 + size * 2, 16 + size * 3] as const;
  return Array.from({ length: size / 2 }, (_, index) => {
    const field = (start: number) => bytes.readUInt16BE(at + start + index * 2);
    const [first, last, delta, offset] = [field(starts), field(ends), field(deltas), field(offsets)];
    return {
      first,
      last,
      glyphOf(codePoint: number) {
        if (offset === 0) return (codePoint + delta) & 0xffff;
        // The offset counts from its own place in the file.
        const glyph = bytes.readUInt16BE(at + offsets + index * 2 + offset + (codePoint - first) * 2);
        return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
      },
    };
  });
}
