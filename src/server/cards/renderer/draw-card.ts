import { type Canvas, createCanvas, type Image, Path2D, type SKRSContext2D } from '@napi-rs/canvas';
import {
  CARD_SIZE,
  type Card,
  type CardBoard,
  type CardBrand,
  type CardProduct,
  UPVOTE_PATHS,
} from './card-renderer.ts';
import { drawInitial, drawMark, drawPicture, drawScenery, PALETTE, readPicture } from './card-scenery.ts';
import {
  DISPLAY_FACE,
  drawableText,
  firstSentence,
  isRightToLeft,
  loadCardFonts,
  TEXT_FACE,
  wrapText,
} from './card-text.ts';

const MARGIN = 72;
const TILE = { y: 84, size: 236 } as const;
const GAP = 44;
const TEXT_TOP = 84;
const TEXT_BOTTOM = 408;
const FOOTER_MIDDLE = 566;
const AWARD = { size: 26, lineHeight: 34, gap: 28, minWidth: 200 } as const;
const BOARD = { top: 64, gap: 18, placeWidth: 104, lineHeight: 56 } as const;
const TAGLINE = { size: 30, lineHeight: 42 } as const;

/**
 * Font sizes for a name, in the order in which they are tried, with their maximum number of lines. A name that does not
 * fit at the last size is truncated.
 */
const NAME_SIZES = [
  { size: 84, maxLines: 1 },
  { size: 68, maxLines: 2 },
  { size: 54, maxLines: 3 },
] as const;

interface Fitted {
  lines: readonly string[];
  font: string;
  lineHeight: number;
}

/** The edge to which text is aligned, and its horizontal position. */
interface Column {
  edge: 'left' | 'right';
  x: number;
}

/** Creates a function that draws a card and returns its PNG. All cards share one canvas. */
export function createDrawCard(fontFolder: string): (card: Card) => Promise<Buffer> {
  const { canShow } = loadCardFonts(fontFolder);
  const scenery = drawScenery();
  const canvas: Canvas = createCanvas(CARD_SIZE.width, CARD_SIZE.height);
  const context = canvas.getContext('2d');
  const clean = (text: string) => drawableText(text, canShow);

  return async ({ brand: given, product, board }) => {
    const picture = product?.picture && (await readPicture(product.picture));
    const logo = given.logo && (await readPicture(given.logo));
    const brand: DrawnBrand = { ...given, name: clean(given.name), tagline: clean(given.tagline), logo };
    // From here on, nothing is awaited, because all cards share the canvas.
    context.reset();
    context.drawImage(scenery, 0, 0);
    if (board) drawBoard(context, board, brand, clean);
    else if (product === undefined) drawBrandCard(context, brand);
    else drawProduct(context, { product, picture, brand }, clean);
    return canvas.encodeSync('png');
  };
}

/** A brand with its drawable text and decoded logo. */
interface DrawnBrand extends Omit<CardBrand, 'logo'> {
  logo: Image | undefined;
}

function drawBrandCard(context: SKRSContext2D, brand: DrawnBrand): void {
  drawMark(context, brand, { x: MARGIN, y: 104, size: 128 });
  const column: Column = { edge: 'left', x: MARGIN };
  const maxWidth = CARD_SIZE.width - MARGIN * 2;
  const name = fitName(context, brand.name, maxWidth);
  drawLines(context, name, column, { top: 262, fill: PALETTE.white });
  const style = { font: `400 34px ${TEXT_FACE}`, lineHeight: 44, maxLines: 3, maxWidth };
  const tagline = fitText(context, brand.tagline, style);
  const top = 262 + name.lines.length * name.lineHeight + 10;
  drawLines(context, tagline, column, { top, fill: PALETTE.foam });
}

function drawBoard(context: SKRSContext2D, board: CardBoard, brand: DrawnBrand, clean: (text: string) => string): void {
  const width = CARD_SIZE.width - MARGIN * 2;
  const column: Column = { edge: 'left', x: MARGIN };
  const title = fitName(context, board.title, width);
  let top = drawLines(context, title, column, { top: BOARD.top, fill: PALETTE.white }) + 4;
  const summary = { lines: [board.summary], font: `700 32px ${TEXT_FACE}`, lineHeight: 46 };
  top = drawLines(context, summary, column, { top, fill: PALETTE.sea }) + BOARD.gap;
  for (const { place, name, votes } of board.first) {
    const row = { font: `800 34px ${DISPLAY_FACE}`, lineHeight: BOARD.lineHeight };
    drawLines(context, { ...row, lines: [place] }, column, { top, fill: brand.accent?.place ?? PALETTE.sunTop });
    context.font = row.font;
    const votesWidth = context.measureText(votes).width;
    const nameWidth = width - BOARD.placeWidth - votesWidth - BOARD.gap;
    const fitted = fitText(context, clean(name), { ...row, maxLines: 1, maxWidth: nameWidth });
    drawLines(context, fitted, { edge: 'left', x: MARGIN + BOARD.placeWidth }, { top, fill: PALETTE.white });
    const end: Column = { edge: 'right', x: CARD_SIZE.width - MARGIN };
    drawLines(context, { ...row, font: `700 30px ${TEXT_FACE}`, lines: [votes] }, end, { top, fill: PALETTE.foam });
    top += BOARD.lineHeight;
  }
  drawBrand(context, brand);
}

function drawProduct(
  context: SKRSContext2D,
  { product, picture, brand }: { product: CardProduct; picture: Image | undefined; brand: DrawnBrand },
  clean: (text: string) => string,
): void {
  // If the fonts can show no character of the name, the card shows the id, which is ASCII.
  const name = clean(product.name) || product.id;
  const maker = clean(product.maker);
  const isRtl = isRightToLeft(name);
  const tile = { ...TILE, x: isRtl ? CARD_SIZE.width - MARGIN - TILE.size : MARGIN };
  if (picture) drawPicture(context, picture, tile);
  else drawInitial(context, { id: product.id, name }, tile);

  const width = CARD_SIZE.width - MARGIN * 2 - TILE.size - GAP;
  const column: Column = isRtl ? { edge: 'right', x: MARGIN + width } : { edge: 'left', x: tile.x + TILE.size + GAP };
  const fittedName = fitName(context, name, width);
  let top = drawLines(context, fittedName, column, { top: TEXT_TOP, fill: PALETTE.white }) + 6;
  if (maker !== '') {
    const font = `700 30px ${TEXT_FACE}`;
    top = drawLines(context, fitText(context, maker, { font, lineHeight: 44, maxLines: 1, maxWidth: width }), column, {
      top,
      fill: PALETTE.sea,
    });
  }
  const tagline = firstSentence(clean(product.description));
  const maxLines = Math.min(3, Math.floor((TEXT_BOTTOM - top - 10) / TAGLINE.lineHeight));
  if (tagline !== '' && maxLines > 0) {
    const font = `400 ${TAGLINE.size}px ${TEXT_FACE}`;
    const fitted = fitText(context, tagline, { font, lineHeight: TAGLINE.lineHeight, maxLines, maxWidth: width });
    drawLines(context, fitted, column, { top: top + 10, fill: PALETTE.foam });
  }
  const pillEnd = drawUpvotes(context, product.upvotes, brand.accent);
  const brandStart = drawBrand(context, brand);
  const room = { from: pillEnd + AWARD.gap, to: brandStart - AWARD.gap };
  if (product.award && room.to - room.from >= AWARD.minWidth) drawAward(context, product.award, room);
}

function fitName(context: SKRSContext2D, name: string, maxWidth: number): Fitted {
  let fitted: Fitted & { isCut?: boolean } = { lines: [], font: '', lineHeight: 0 };
  for (const { size, maxLines } of NAME_SIZES) {
    const font = `800 ${size}px ${DISPLAY_FACE}`;
    fitted = fitText(context, name, { font, lineHeight: Math.round(size * 1.14), maxLines, maxWidth });
    if (!fitted.isCut) return fitted;
  }
  return fitted;
}

function fitText(
  context: SKRSContext2D,
  text: string,
  { font, lineHeight, maxLines, maxWidth }: { font: string; lineHeight: number; maxLines: number; maxWidth: number },
): Fitted & { isCut: boolean } {
  context.font = font;
  const measure = (part: string) => context.measureText(part).width;
  return { font, lineHeight, ...wrapText(text, { maxWidth, maxLines, measure }) };
}

/** @returns the vertical position below the last line. */
function drawLines(
  context: SKRSContext2D,
  { lines, font, lineHeight }: Fitted,
  { edge, x }: Column,
  { top, fill }: { top: number; fill: string },
): number {
  context.font = font;
  context.fillStyle = fill;
  // Otherwise, quotes and full stops in right-to-left text would appear on the wrong side.
  context.direction = isRightToLeft(lines.join('')) ? 'rtl' : 'ltr';
  context.textAlign = edge;
  context.textBaseline = 'alphabetic';
  lines.forEach((line, index) => {
    context.fillText(line, x, top + (index + 0.76) * lineHeight);
  });
  return top + lines.length * lineHeight;
}

/** Draws the upvotes in a pill. @returns the horizontal position at which it ends. */
function drawUpvotes(
  context: SKRSContext2D,
  upvotes: number,
  { pill, ink }: Omit<NonNullable<CardBrand['accent']>, 'place'> = { pill: '#ff9466', ink: '#2a0f04' },
): number {
  // '0 upvotes' would discourage visitors.
  const label = upvotes > 0 ? `${upvotes.toLocaleString('en')} ${upvotes === 1 ? 'upvote' : 'upvotes'}` : 'Upvote';
  context.font = `800 34px ${DISPLAY_FACE}`;
  const width = context.measureText(label).width + 104;
  context.fillStyle = pill;
  context.beginPath();
  context.roundRect(MARGIN, FOOTER_MIDDLE - 36, width, 72, 36);
  context.fill();
  context.save();
  context.translate(MARGIN + 24, FOOTER_MIDDLE - 21);
  context.scale(2, 2);
  context.strokeStyle = ink;
  context.lineWidth = 2;
  context.lineCap = 'round';
  context.lineJoin = 'round';
  for (const path of UPVOTE_PATHS) context.stroke(new Path2D(path));
  context.restore();
  context.fillStyle = ink;
  context.direction = 'ltr';
  context.textAlign = 'left';
  context.textBaseline = 'alphabetic';
  context.fillText(label, MARGIN + 74, FOOTER_MIDDLE + 12);
  return MARGIN + width;
}

/** Draws the final rank between the upvotes and the brand, in at most two lines. */
function drawAward(context: SKRSContext2D, award: string, { from, to }: { from: number; to: number }): void {
  const font = `700 ${AWARD.size}px ${TEXT_FACE}`;
  const fitted = fitText(context, award, { font, lineHeight: AWARD.lineHeight, maxLines: 2, maxWidth: to - from });
  const top = FOOTER_MIDDLE - (fitted.lines.length * AWARD.lineHeight) / 2;
  drawLines(context, fitted, { edge: 'left', x: from }, { top, fill: PALETTE.foam });
}

/** Draws the brand's logo and name in the footer. @returns the horizontal position at which the logo begins. */
function drawBrand(context: SKRSContext2D, brand: DrawnBrand): number {
  const font = `800 36px ${DISPLAY_FACE}`;
  const fitted = fitText(context, brand.name, { font, lineHeight: 46, maxLines: 1, maxWidth: 480 });
  const width = Math.max(...fitted.lines.map((line) => context.measureText(line).width), 0);
  const start = CARD_SIZE.width - MARGIN - width;
  drawLines(context, fitted, { edge: 'left', x: start }, { top: FOOTER_MIDDLE - 23, fill: PALETTE.white });
  drawMark(context, brand, { x: start - 66, y: FOOTER_MIDDLE - 25, size: 50 });
  return start - 66;
}
