import type { Period } from '../../../contract/leaderboards/period.ts';
import type { Leaderboard } from '../../../contract/leaderboards/schema.ts';
import { paths } from '../../../contract/paths.ts';
import { boardTitle } from './head.ts';

interface BoardData {
  siteName: string;
  siteUrl: string;
  period: Period;
  board: Leaderboard;
}

/** A leaderboard for search engines: its first launches, in the order on screen. */
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
