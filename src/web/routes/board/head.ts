import { taglineOf } from '../../../contract/brand.ts';
import type { Period } from '../../../contract/leaderboards/period.ts';
import { periodInWords } from '../../../contract/leaderboards/words.ts';
import { paths } from '../../../contract/paths.ts';
import type { PageHead, SiteWords } from '../../routing/document-head.ts';

export function boardTitle(period: Period): string {
  return `Launches of ${periodInWords(period)}`;
}

/**
 * The head of a leaderboard. One without launches is not indexed, and later pages have the canonical URL of the first.
 */
export function boardHead(period: Period, siteName: string, { empty = false } = {}): PageHead {
  const head = {
    title: `${boardTitle(period)} · ${siteName}`,
    description: `The products launched ${period.kind === 'day' ? 'on' : 'in'} ${periodInWords(period)}, ranked by the votes of their first 24 hours. Anyone can recompute the ranks.`,
  };
  return empty ? { ...head, noindex: true } : { ...head, canonical: paths.board(period.name) };
}

export function missingBoardHead(site: SiteWords): PageHead {
  return { title: `No leaderboard · ${site.name}`, description: taglineOf(site), noindex: true };
}
