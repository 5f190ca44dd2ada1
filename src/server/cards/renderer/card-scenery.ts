import { type Canvas, createCanvas, type Image, Path2D, type SKRSContext2D } from '@napi-rs/canvas';
import { CARD_SIZE } from './card-renderer.ts';

/** The colours of the welcome banner by day (`src/web/ui/tokens.css` and `waves.css`). */
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

/** The waves of the banner; each path is 1200 wide and 160 high, and is scaled in height. */
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

/** The mark of the site, of `public/favicon.svg`, on a square of 32. */
const MARK = [
  { fill: '#2b9c9c', path: 'M0 21c5 0 7-6.5 13-6.5S22 21 32 19v13H0Z' },
  { fill: '#c9f0ea', path: 'M0 24.5c4.5 0 6-3 10.5-3s6.5 4 11.5 4 7-2 10-2.5V32H0Z' },
] as const;

/** The background of every card: deep water, a low sun, three waves. Drawn once and copied. */
export function drawScenery(): Canvas {
  const { width, height } = CARD_SIZE;
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  // Row by row, because the canvas dithers gradients, and noise makes a PNG several times as large.
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
  // Discs instead of a gradient, for the same reason.
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

/** The logo, or else the mark of the site, in a square with its corner at (x, y). */
export function drawMark(
  context: SKRSContext2D,
  { x, y, size }: { x: number; y: number; size: number },
  logo?: Image | undefined,
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
  context.fillStyle = '#0c3b54';
  context.fillRect(0, 0, 32, 32);
  context.fillStyle = '#ff8a57';
  fillDisc(context, 22.5, 10, 4);
  for (const { fill, path } of MARK) {
    context.fillStyle = fill;
    context.fill(new Path2D(path));
  }
  context.restore();
}
