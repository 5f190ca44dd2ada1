import type { BadgeTheme } from '../../contract/paths.ts';
import { escapeXml } from '../feeds/xml.ts';

export interface BadgeContent {
  siteName: string;
  productName: string;
  upvotes: number;
}

export type TextWidth = (text: string, size: number, weight: 'regular' | 'bold') => number;

/** Of `src/web/ui/tokens.css`, for either ground; text has a contrast of at least 7 to 1. */
const COLOURS = {
  light: { ground: '#ffffff', line: '#c4d1d4', ink: '#0a2135', quiet: '#3b5064', vote: '#fff1ea', voteInk: '#9a3412' },
  dark: { ground: '#0d2030', line: '#2b4860', ink: '#e8f0f4', quiet: '#b3c4d1', vote: '#33201b', voteInk: '#ffb08c' },
} as const;

const HEIGHT = 54;
const PADDING = 12;
const MARK = 30;
const GAP = 10;
const LEAD = { text: 'Upvote us on', size: 11 } as const;
const NAME_SIZE = 18;
const COUNT_SIZE = 17;
const FACE = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif";
const MAX_NAME_CHARACTERS = 40;

/** Draws the badge of a product: whose site it is, and how many upvotes. @returns an SVG document. */
export function renderBadge(
  { siteName, productName, upvotes }: BadgeContent,
  theme: BadgeTheme,
  widthOf: TextWidth,
): string {
  const { ground, line, ink, quiet, vote, voteInk } = COLOURS[theme];
  const site = shortened(siteName);
  const count = upvotes.toLocaleString('en');
  const title = `${printable(productName)}: ${count} ${upvotes === 1 ? 'upvote' : 'upvotes'} on ${printable(siteName)}`;

  const leadWidth = round(widthOf(LEAD.text, LEAD.size, 'regular'));
  const siteWidth = round(widthOf(site, NAME_SIZE, 'bold'));
  const countWidth = round(widthOf(count, COUNT_SIZE, 'bold'));
  const textX = PADDING + MARK + GAP;
  const voteWidth = Math.max(48, Math.ceil(countWidth) + 22);
  const voteX = Math.ceil(textX + Math.max(leadWidth, siteWidth) + GAP + 4);
  const width = voteX + voteWidth + 7;
  const voteMiddle = voteX + voteWidth / 2;

  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-labelledby="title">`,
    `<title id="title">${escapeXml(title)}</title>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${HEIGHT - 1}" rx="11.5" fill="${ground}" stroke="${line}"/>`,
    `<svg x="${PADDING}" y="${(HEIGHT - MARK) / 2}" width="${MARK}" height="${MARK}" viewBox="0 0 32 32">`,
    '<clipPath id="mark"><rect width="32" height="32" rx="9"/></clipPath><g clip-path="url(#mark)"><rect width="32" height="32" fill="#0c3b54"/>',
    '<circle cx="22.5" cy="10" r="4" fill="#ff8a57"/><path d="M0 21c5 0 7-6.5 13-6.5S22 21 32 19v13H0Z" fill="#2b9c9c"/>',
    '<path d="M0 24.5c4.5 0 6-3 10.5-3s6.5 4 11.5 4 7-2 10-2.5V32H0Z" fill="#c9f0ea"/></g></svg>',
    `<g font-family="${FACE}" aria-hidden="true">`,
    text(LEAD.text, { x: textX, y: 20, size: LEAD.size, fill: quiet, width: leadWidth }),
    text(site, { x: textX, y: 40, size: NAME_SIZE, fill: ink, width: siteWidth, bold: true }),
    `<rect x="${voteX}" y="7" width="${voteWidth}" height="${HEIGHT - 14}" rx="8" fill="${vote}"/>`,
    `<g transform="translate(${round(voteMiddle - 9)} 8) scale(.9)" fill="none" stroke="${voteInk}" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"><path d="M4.5 11.5 10 5.5l5.5 6"/><path d="M6 15.5c1.3-1.2 2.7-1.2 4 0s2.7 1.2 4 0"/></g>`,
    text(count, {
      x: round(voteMiddle - countWidth / 2),
      y: 41,
      size: COUNT_SIZE,
      fill: voteInk,
      width: countWidth,
      bold: true,
    }),
    '</g></svg>',
  ].join('');
}

interface TextPlace {
  x: number;
  y: number;
  size: number;
  fill: string;
  width: number;
  bold?: boolean;
}

/** Text that is as wide as it was measured to be, in whatever font the viewer has. */
function text(content: string, { x, y, size, fill, width, bold = false }: TextPlace): string {
  const weight = bold ? ' font-weight="700"' : '';
  return `<text x="${x}" y="${y}" font-size="${size}"${weight} fill="${fill}" textLength="${width}" lengthAdjust="spacingAndGlyphs">${escapeXml(content)}</text>`;
}

function shortened(name: string): string {
  const characters = [...new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(printable(name))];
  if (characters.length <= MAX_NAME_CHARACTERS) return printable(name);
  const kept = characters.slice(0, MAX_NAME_CHARACTERS - 1).map(({ segment }) => segment);
  return `${kept.join('').trimEnd()}…`;
}

/** Without what XML 1.0 has no way to write (section 2.2): controls, halves of characters. */
function printable(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Cs}\ufffe\uffff]+/gu, ' ').trim();
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
