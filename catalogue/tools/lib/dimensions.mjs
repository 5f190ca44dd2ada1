/** Reads the width and height of an SVG, from its attributes, or of a lossy or extended WebP. */
export function pictureDimensions(bytes) {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF') {
    const [, width, height] = /<svg[^>]* width="(\d+)" height="(\d+)"/.exec(bytes.toString('utf8')) ?? [];
    return { width: Number(width), height: Number(height) };
  }
  const kind = bytes.toString('latin1', 12, 16);
  if (kind === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}
