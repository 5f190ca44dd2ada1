import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyPluginAsync } from 'fastify';
import { create, type Font } from 'fontkitten';
import { formatAward } from '../../contract/leaderboards/format.ts';
import { type BadgeBoard, type BadgeTheme, badgePath } from '../../contract/paths/badge.ts';
import { formatCount } from '../../contract/text.ts';
import type { Core } from '../../core/core.ts';
import { productNotFound } from '../../core/core-error.ts';
import type { Brand } from '../../settings/brand.ts';
import { API_FRESHNESS, type CacheableResponse } from '../cache/cached-response.ts';
import { trackDependencies } from '../cache/dependency-tracker.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { sendFromCache } from '../cache/send-cached.ts';
import { DEFAULT_MARK } from '../cards/card-brand.ts';
import { UPVOTE_PATHS } from '../cards/renderer/card-renderer.ts';
import { escapeXml } from '../feeds/xml.ts';
import { allowEmbedding } from '../http/security-headers.ts';

/** Browsers cache a badge for a minute, so not every view of a page that embeds it causes a request. */
const BADGE_CACHING = 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400';

interface Options {
  core: Core;
  cache: ResponseCache;
  site: BadgeSite;
  widthOf: TextWidth;
}

const BOARDS: readonly unknown[] = ['day', 'week', 'month'] satisfies BadgeBoard[];

/** Badges for other sites, with the live count or a final rank. */
export const badgeRoutes: FastifyPluginAsync<Options> = async (app, { core, cache, site, widthOf }) => {
  allowEmbedding(app, site.brand?.logo && 'data:');

  app.get<{ Params: { id: string }; Querystring: { theme?: unknown; board?: unknown } }>(
    badgePath.route,
    (request, reply) => {
      const { id } = request.params;
      // Any other value selects the default, so arbitrary URLs share one cache entry.
      const theme: BadgeTheme = request.query.theme === 'dark' ? 'dark' : 'light';
      const board = BOARDS.includes(request.query.board) ? (request.query.board as BadgeBoard) : undefined;
      const wanted = {
        key: `badge ${theme} ${board ?? ''} ${id}`,
        freshness: API_FRESHNESS,
        produce: () => badgeResponse(id, theme, board),
      };
      return sendFromCache(cache, wanted, request, reply);
    },
  );

  async function badgeResponse(id: string, theme: BadgeTheme, board?: BadgeBoard): Promise<CacheableResponse> {
    const tracker = trackDependencies(core, { standingsOf: 'neighbours' });
    const detail = await tracker.api.getProduct(id);
    if (detail === null) throw productNotFound();
    const { name: productName, upvotes } = detail.product;
    const standing = board && (await tracker.api.getStandings(id))?.[board];
    const [, rank = '', rest = ''] = /^(.*?) (of .*)$/.exec((standing && formatAward(standing)) ?? '') ?? [];
    const award = rank === '' ? undefined : { rank, rest };
    return {
      status: 200,
      type: 'image/svg+xml; charset=utf-8',
      cacheControl: BADGE_CACHING,
      body: renderBadge({ site, productName, upvotes, award }, theme, widthOf),
      dependencies: tracker.dependencies(),
    };
  }
};

/** The site that a badge names. */
interface BadgeSite {
  name: string;
  brand?: Brand;
}

interface BadgeContent {
  site: BadgeSite;
  productName: string;
  upvotes: number;
  /** A final rank, shown in place of the upvotes, such as '4th' and 'of 23 on 21 November 2026'. */
  award?: { rank: string; rest: string } | undefined;
}

export type TextWidth = (text: string, size: number, weight: 'regular' | 'bold') => number;

/** All colours except `line` are from `src/web/ui/tokens.css`. Text has a contrast of at least 6.5 to 1. */
const COLOURS = {
  light: { ground: '#ffffff', line: '#c4d1d4', ink: '#0a2135', quiet: '#3b5064', vote: '#fff1ea', voteInk: '#9a3412' },
  dark: { ground: '#0d2030', line: '#2b4860', ink: '#e8f0f4', quiet: '#b3c4d1', vote: '#33201b', voteInk: '#ffb08c' },
} as const;

const HEIGHT = 54;
const PADDING = 12;
const LOGO_SIZE = 30;
const GAP = 10;
const LEAD = { text: 'Upvote us on', size: 11 } as const;
const NAME_SIZE = 18;
const COUNT_SIZE = 17;
const FACE = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif";
const MAX_NAME_CHARACTERS = 40;

/** Draws a product's badge: the site's name, and the product's upvotes or rank. @returns an SVG document. */
export function renderBadge(
  { site: { name: siteName, brand }, productName, upvotes, award }: BadgeContent,
  theme: BadgeTheme,
  widthOf: TextWidth,
): string {
  const { ground, line, ink, quiet } = COLOURS[theme];
  const accent = brand?.accent?.[theme];
  const { vote, voteInk } = accent ? { vote: accent.sunSoft, voteInk: accent.sunStrong } : COLOURS[theme];
  const site = shortened(siteName);
  const lead = award?.rest ?? LEAD.text;
  // '0' would discourage visitors, so a badge without votes shows no count.
  const count = award?.rank ?? (upvotes > 0 ? formatCount(upvotes) : '');
  const words = award ? `${award.rank} ${award.rest}` : `${count} ${upvotes === 1 ? 'upvote' : 'upvotes'}`;
  const title = `${printable(productName)}${count && `: ${words}`} on ${printable(siteName)}`;

  const leadWidth = round(widthOf(lead, LEAD.size, 'regular'));
  const siteWidth = round(widthOf(site, NAME_SIZE, 'bold'));
  const countWidth = round(widthOf(count, COUNT_SIZE, 'bold'));
  const textX = PADDING + LOGO_SIZE + GAP;
  const voteWidth = Math.max(48, Math.ceil(countWidth) + 22);
  const voteX = Math.ceil(textX + Math.max(leadWidth, siteWidth) + GAP + 4);
  const width = voteX + voteWidth + 7;
  const voteMiddle = voteX + voteWidth / 2;

  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-labelledby="title">`,
    `<title id="title">${escapeXml(title)}</title>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${HEIGHT - 1}" rx="11.5" fill="${ground}" stroke="${line}"/>`,
    `<svg x="${PADDING}" y="${(HEIGHT - LOGO_SIZE) / 2}" width="${LOGO_SIZE}" height="${LOGO_SIZE}" viewBox="0 0 32 32">`,
    brand?.logo ? logoImage(brand.logo) : DEFAULT_LOGO,
    '</svg>',
    `<g font-family="${FACE}" aria-hidden="true">`,
    text(lead, { x: textX, y: 20, size: LEAD.size, fill: quiet, width: leadWidth }),
    text(site, { x: textX, y: 40, size: NAME_SIZE, fill: ink, width: siteWidth, bold: true }),
    `<rect x="${voteX}" y="7" width="${voteWidth}" height="${HEIGHT - 14}" rx="8" fill="${vote}"/>`,
    `<g transform="translate(${round(voteMiddle - 9)} ${count ? 8 : 18}) scale(.9)" fill="none" stroke="${voteInk}" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${UPVOTE_PATHS.map((path) => `<path d="${path}"/>`).join('')}</g>`,
    count &&
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

const DEFAULT_LOGO = [
  '<clipPath id="mark"><rect width="32" height="32" rx="9"/></clipPath><g clip-path="url(#mark)">',
  `<rect width="32" height="32" fill="${DEFAULT_MARK.background}"/>`,
  ...DEFAULT_MARK.shapes.map(({ fill, path }) => `<path d="${path}" fill="${fill}"/>`),
  '</g>',
].join('');

/** Embeds the logo as a data URL, because an SVG that is displayed as a picture loads no other files. */
function logoImage({ bytes, mediaType }: NonNullable<Brand['logo']>): string {
  return `<image width="32" height="32" href="data:${mediaType};base64,${bytes.toString('base64')}"/>`;
}

interface TextPlace {
  x: number;
  y: number;
  size: number;
  fill: string;
  width: number;
  bold?: boolean;
}

/** Returns a text element with its measured width, so the text fits whatever font the viewer has. */
function text(content: string, { x, y, size, fill, width, bold = false }: TextPlace): string {
  const weight = bold ? ' font-weight="700"' : '';
  return `<text x="${x}" y="${y}" font-size="${size}"${weight} fill="${fill}" textLength="${width}" lengthAdjust="spacingAndGlyphs">${escapeXml(content)}</text>`;
}

function shortened(name: string): string {
  const characters = [...new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(printable(name))];
  if (characters.length <= MAX_NAME_CHARACTERS) return printable(name);
  const shown = characters.slice(0, MAX_NAME_CHARACTERS - 1).map(({ segment }) => segment);
  return `${shown.join('').trimEnd()}…`;
}

/** Replaces characters that XML 1.0 does not allow (section 2.2) with spaces: controls, unpaired surrogates. */
function printable(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Cs}\ufffe\uffff]+/gu, ' ').trim();
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Characters as wide as they are high: CJK, Hangul, kana, full-width forms, emoji. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}\uff01-\uff60]/u;

/** Widths of characters that Noto Sans lacks, in ems. */
const WIDE_ADVANCE = 1;
const OTHER_ADVANCE = 0.6;

/**
 * Creates a function that returns the width of a text in pixels, for a font size in pixels. It measures in the bundled
 * Noto Sans, which is narrower than Verdana and wider than Arial. The SVG then fits the viewer's font to that width.
 */
export function createTextWidth(fontFolder: string): TextWidth {
  const fonts = new Map<string, Font>();

  function fontOf(weight: string): Font {
    const loaded = fonts.get(weight);
    if (loaded !== undefined) return loaded;
    const path = join(fontFolder, `noto-sans-${weight}.ttf`);
    const font = create(readFileSync(path));
    if (font.isCollection) throw new Error(`${path} contains several fonts`);
    fonts.set(weight, font);
    return font;
  }

  return (text, size, weight) => {
    const font = fontOf(weight);
    let ems = 0;
    for (const character of text) {
      const codePoint = character.codePointAt(0) ?? 0;
      if (font.hasGlyphForCodePoint(codePoint)) ems += font.glyphForCodePoint(codePoint).advanceWidth / font.unitsPerEm;
      else ems += WIDE.test(character) ? WIDE_ADVANCE : OTHER_ADVANCE;
    }
    return ems * size;
  };
}
