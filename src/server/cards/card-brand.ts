import type { Brand } from '../../settings/brand.ts';
import type { CardBrand, CardMark } from './renderer/card-renderer.ts';

/** The default logo, as in `public/favicon.svg`, for a viewBox of 32 by 32. */
export const DEFAULT_MARK: CardMark = {
  background: '#0c3b54',
  shapes: [
    { fill: '#ff8a57', path: 'M26.5 10a4 4 0 1 1-8 0a4 4 0 1 1 8 0Z' },
    { fill: '#2b9c9c', path: 'M0 21c5 0 7-6.5 13-6.5S22 21 32 19v13H0Z' },
    { fill: '#c9f0ea', path: 'M0 24.5c4.5 0 6-3 10.5-3s6.5 4 11.5 4 7-2 10-2.5V32H0Z' },
  ],
};

/** Shorter than the default tagline of pages, so it fits on one line of a card. */
const TAGLINE = 'Discover, upvote and discuss what makers launch.';

/** Returns a site's brand as cards show it. Cards are dark, so they use the accent colours of the dark theme. */
export function cardBrandOf(siteName: string, { page, logo, accent }: Brand): CardBrand {
  const { sun: pill, onSun: ink, sunStrong: place } = accent?.dark ?? {};
  return {
    name: siteName,
    tagline: page.tagline ?? TAGLINE,
    mark: DEFAULT_MARK,
    logo: logo?.bytes,
    ...(pill && ink && place && { accent: { pill, ink, place } }),
  };
}
