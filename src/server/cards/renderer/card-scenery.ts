import { type Canvas, createCanvas, type Image, loadImage, Path2D, type SKRSContext2D } from '@napi-rs/canvas';
import { CARD_SIZE, type CardMark } from './card-renderer.ts';
import { DISPLAY_FACE } from './card-text.ts';

/** The colours of the scenery and of text on it. */
export const PALETTE = {
  deep: [11, 58, 83],
  shallow: [15, 106, 117],
  far: 'rgba(47, 143, 149, 0.5)',
  middle: 'rgba(26, 117, 127, 0.9)',
  near: '#0a4a5c',
  sunTop: '#ffc38f',
  sun: '#f9733e',
  glow: 'rgba(255, 150, 90, 0.07)',
  white: '#ffffff',
  foam: '#d9edee',
  sea: '#a6e6e3',
} as const;

/** The waves, from back to front. Each path is 1200 wide and 160 high, and is scaled vertically to `height`. */
const WAVES = [
  {
    top: 402,
    height: 228,
    fill: PALETTE.far,
    path: 'M0 70c150 0 180-46 330-46s190 62 330 62 200-40 300-40 140 24 240 24v90H0Z',
  },
  {
    top: 446,
    height: 184,
    fill: PALETTE.middle,
    path: 'M0 88c120 0 160 34 290 34S480 66 620 66s180 52 310 52 170-30 270-30v72H0Z',
  },
  {
    top: 440,
    height: 190,
    fill: PALETTE.near,
    path: 'M0 72c140 0 200-30 340-30s200 44 340 44 180-26 270-26 150 12 250 12v88H0Z',
  },
] as const;

/** Draws the background of every card: deep water, a low sun, three waves. The caller draws it once and copies it. */
export function drawScenery(): Canvas {
  const { width, height } = CARD_SIZE;
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  // The gradient is drawn row by row, because dithering by the canvas would make the PNG several times as large.
  for (let row = 0; row < height; row += 1) {
    const share = row / height;
    const channels = PALETTE.deep.map((from, index) =>
      Math.round(from + ((PALETTE.shallow[index] ?? 0) - from) * share),
    );
    context.fillStyle = `rgb(${channels.join(', ')})`;
    context.fillRect(0, row, width, 1);
  }
  drawSun(context, { x: 1_040, y: 482, radius: 76 });
  for (const { top, height: waveHeight, fill, path } of WAVES) {
    context.save();
    context.translate(0, top);
    context.scale(1, waveHeight / 160);
    context.fillStyle = fill;
    context.fill(new Path2D(path));
    context.restore();
  }
  return canvas;
}

function drawSun(context: SKRSContext2D, { x, y, radius }: { x: number; y: number; radius: number }): void {
  // The glow consists of discs, because the canvas would dither a gradient.
  context.fillStyle = PALETTE.glow;
  for (const share of [1.7, 1.5, 1.33, 1.2, 1.1]) fillDisc(context, x, y, radius * share);
  const face = context.createRadialGradient(x, y - radius * 0.3, 0, x, y, radius * 1.2);
  face.addColorStop(0, PALETTE.sunTop);
  face.addColorStop(0.8, PALETTE.sun);
  context.fillStyle = face;
  fillDisc(context, x, y, radius);
}

function fillDisc(context: SKRSContext2D, x: number, y: number, radius: number): void {
  context.beginPath();
  context.arc(x, y, radius, 0, Math.PI * 2);
  context.fill();
}

/** Draws the logo, or the mark if there is none, in a square whose top left corner is at (x, y). */
export function drawMark(
  context: SKRSContext2D,
  { mark, logo }: { mark: CardMark; logo: Image | undefined },
  { x, y, size }: Box,
): void {
  if (logo) {
    const scale = size / Math.max(logo.width, logo.height);
    const [width, height] = [logo.width * scale, logo.height * scale];
    context.drawImage(logo, x + (size - width) / 2, y + (size - height) / 2, width, height);
    return;
  }
  context.save();
  context.translate(x, y);
  context.scale(size / 32, size / 32);
  context.beginPath();
  context.roundRect(0, 0, 32, 32, 9);
  context.clip();
  context.fillStyle = mark.background;
  context.fillRect(0, 0, 32, 32);
  for (const { fill, path } of mark.shapes) {
    context.fillStyle = fill;
    context.fill(new Path2D(path));
  }
  context.restore();
}

/** A square on the card, in pixels. */
interface Box {
  x: number;
  y: number;
  size: number;
}

/**
 * Pictures with more pixels are not drawn. The size is known only after decoding; if decoding took too much memory, the
 * worker process is replaced.
 */
const MAX_PIXELS = 40_000_000;

/** Parts of an SVG that reference other files, run scripts, or expand without limit. */
const UNSAFE_SVG =
  /<!(?:DOCTYPE|ENTITY)|<(?:script|foreignObject|use|pattern|image|feImage)\b|@import|\b(?:href|src)\s*=\s*(?:["']\s*)?[^#"'\s]|url\(\s*(?:["']\s*)?[^#"'\s)]/i;

/** Background colours of the tile that replaces a missing picture; a product always gets the same colour. */
const BACKGROUNDS = ['#12616b', '#a8481f', '#2c4f8f', '#7a5a10', '#5d3a8a', '#2f6a2a'] as const;

/** Decodes a picture. @returns undefined if it is unusable or unsafe. */
export async function readPicture(bytes: Buffer): Promise<Image | undefined> {
  const start = bytes.subarray(0, 512).toString('utf8').trimStart();
  if (start.startsWith('<') && UNSAFE_SVG.test(bytes.toString('utf8'))) return undefined;
  try {
    const image = await loadImage(bytes);
    const isUsable = image.width > 0 && image.height > 0 && image.width * image.height <= MAX_PIXELS;
    return isUsable ? image : undefined;
  } catch {
    // The bytes are not a picture, so the caller draws a replacement.
    return undefined;
  }
}

/** Draws a product's picture, cropped to a square with rounded corners. */
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
