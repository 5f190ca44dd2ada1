import { type Image, loadImage, Path2D, type SKRSContext2D } from '@napi-rs/canvas';
import { DISPLAY_FACE } from './card-text.ts';

/** A square on the card, in pixels. */
export interface Box {
  x: number;
  y: number;
  size: number;
}

/** Larger pictures are not decoded: a small file may hold a gigantic one. */
const MAX_PIXELS = 40_000_000;

/** Parts of an SVG that refer to something outside of the file, run, or grow without bound. */
const UNSAFE_SVG =
  /<!(?:DOCTYPE|ENTITY)|<(?:script|foreignObject|use|pattern|image|feImage)\b|@import|\b(?:href|src)\s*=\s*["']?\s*[^#"'\s]|url\(\s*["']?\s*[^#"'\s)]/i;

/** Background colours of the tile that replaces a missing picture; a product always gets the same one. */
const BACKGROUNDS = ['#12616b', '#a8481f', '#2c4f8f', '#7a5a10', '#5d3a8a', '#2f6a2a'] as const;

/** Decodes a picture; undefined if it is unusable or unsafe. */
export async function readPicture(bytes: Buffer): Promise<Image | undefined> {
  const start = bytes.subarray(0, 512).toString('utf8').trimStart();
  if (start.startsWith('<') && UNSAFE_SVG.test(bytes.toString('utf8'))) return undefined;
  try {
    const image = await loadImage(bytes);
    const isUsable = image.width > 0 && image.height > 0 && image.width * image.height <= MAX_PIXELS;
    return isUsable ? image : undefined;
  } catch {
    // Not a picture: the card gets a tile with an initial, as on the site.
    return undefined;
  }
}

/** Draws a product's picture into a rounded square, which it covers. */
export function drawPicture(context: SKRSContext2D, image: Image, { x, y, size }: Box): void {
  const scale = size / Math.min(image.width, image.height);
  const [width, height] = [image.width * scale, image.height * scale];
  context.save();
  clipToTile(context, { x, y, size });
  context.fillStyle = '#ffffff';
  context.fillRect(x, y, size, size);
  context.drawImage(image, x + (size - width) / 2, y + (size - height) / 2, width, height);
  context.restore();
}

/** Draws the first character of a product's name over a wave, in place of a missing picture. */
export function drawInitial(context: SKRSContext2D, { id, name }: { id: string; name: string }, box: Box): void {
  const { x, y, size } = box;
  const [initial] = new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(name);
  const background = [...id].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0) % BACKGROUNDS.length;
  context.save();
  clipToTile(context, box);
  context.fillStyle = BACKGROUNDS[background] ?? BACKGROUNDS[0];
  context.fillRect(x, y, size, size);
  context.save();
  context.translate(x, y);
  context.scale(size / 64, size / 64);
  context.fillStyle = 'rgba(255, 255, 255, 0.12)';
  context.fill(new Path2D('M0 40c12 0 16-12 30-12s20 14 34 9v27H0Z'));
  context.fill(new Path2D('M0 50c10 0 14-7 24-7s16 9 26 9 10-3 14-4v16H0Z'));
  context.restore();
  context.fillStyle = '#ffffff';
  context.font = `800 ${Math.round(size * 0.5)}px ${DISPLAY_FACE}`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText((initial?.segment ?? '').toLocaleUpperCase('und'), x + size / 2, y + size * 0.52);
  context.restore();
}

function clipToTile(context: SKRSContext2D, { x, y, size }: Box): void {
  context.beginPath();
  context.roundRect(x, y, size, size, size * 0.22);
  context.clip();
}
