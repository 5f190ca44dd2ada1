import type { Period } from '../../../contract/leaderboards/period.ts';
import type { Leaderboard } from '../../../contract/leaderboards/schema.ts';
import * as paths from '../../../contract/paths.ts';
import { taglineOf } from '../../../contract/site.ts';
import { formatPeriod } from '../../language/format.ts';
import { t, translated } from '../../language/translate.ts';
import type { PageHead, SiteWords } from '../../routing/document-head.ts';

const describeDay = (period: string) =>
  t('The products launched on {period}, ranked by the votes in their first 24 hours. Anyone can recompute the ranks.', {
    period,
  });
const describePeriod = (period: string) =>
  t('The products launched in {period}, ranked by the votes in their first 24 hours. Anyone can recompute the ranks.', {
    period,
  });

export function boardTitle(period: Period): string {
  return t('Launches of {period}', { period: formatPeriod(period) });
}

/**
 * Returns the head of a leaderboard. A board without launches is not indexed, and later pages have the canonical URL of
 * the first.
 */
export function boardHead(period: Period, siteName: string, { empty = false } = {}): PageHead {
  const head = {
    title: `${boardTitle(period)} · ${siteName}`,
    description: (period.kind === 'day' ? describeDay : describePeriod)(formatPeriod(period)),
  };
  return empty ? { ...head, noindex: true } : { ...head, canonical: paths.board(period.name) };
}

export function missingBoardHead(site: SiteWords): PageHead {
  return { title: `${t('No leaderboard')} · ${site.name}`, description: translated(taglineOf(site)), noindex: true };
}

interface BoardData {
  siteName: string;
  siteUrl: string;
  period: Period;
  board: Leaderboard;
}

/** Returns the structured data of a leaderboard for search engines: its first launches, in the order on screen. */
export function boardStructuredData({ siteName, siteUrl, period, board }: BoardData): object[] {
  const url = siteUrl + paths.board(period.name);
  const list = {
    '@type': 'ItemList',
    name: boardTitle(period),
    numberOfItems: board.launches,
    itemListElement: board.items.map(({ name, productId }, index) => ({
      '@type': 'ListItem',
      position: index + 1,
      name,
      url: siteUrl + paths.product(productId),
    })),
  };
  const breadcrumbs = {
    '@type': 'BreadcrumbList',
    itemListElement: [
      { '@type': 'ListItem', position: 1, name: siteName, item: siteUrl + paths.home },
      { '@type': 'ListItem', position: 2, name: boardTitle(period), item: url },
    ],
  };
  return [list, breadcrumbs];
}
