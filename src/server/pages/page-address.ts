import { parsePeriod } from '../../contract/leaderboards/period.ts';
import { LIMITS } from '../../contract/limits.ts';
import { paths } from '../../contract/paths.ts';
import { ROUTES } from '../../contract/routes.ts';
import { isStorableText } from '../../contract/text.ts';
import { isModerationCursor } from '../../core/audit/moderation-log.ts';
import { isCommentCursor } from '../../core/comments/list-comments.ts';
import { isLeaderboardCursor } from '../../core/leaderboards/get-leaderboard.ts';
import { isProductCursor } from '../../core/products/list-products.ts';

/** A page's address after cleaning: `path` has only valid parameters, in the order of `ROUTES`. */
export interface PageAddress {
  path: string;
  /** Whether a parameter was invalid; then the visitor is redirected to `path`. */
  faulty: boolean;
}

const SORTS = new Set(['newest', 'top', 'discussed'] as const);
type Sort = typeof SORTS extends Set<infer Name> ? Name : never;

/** The address of the list: `q`, `tag`, `sort`, and `cursor` where it starts further down. */
export function homeAddress(query: URLSearchParams): PageAddress {
  const sort = (query.get('sort') ?? 'newest') as Sort;
  return clean('home', paths.home, query, {
    q: (text) => isStorableText(text) && [...text].length <= LIMITS.searchCharacters,
    tag: (text) => isStorableText(text) && [...text].length <= LIMITS.tagCharacters,
    sort: (text) => SORTS.has(text as Sort),
    cursor: (text) => SORTS.has(sort) && isProductCursor(text, sort),
  });
}

/** The address of a leaderboard, with `cursor` further down. For an impossible period, it is the list's. */
export function boardAddress(query: URLSearchParams): PageAddress {
  const period = parsePeriod(query.get('board') ?? '');
  if (period === undefined) return { path: paths.home, faulty: true };
  return clean('board', paths.home, query, {
    board: () => true,
    cursor: (text) => isLeaderboardCursor(text, period.kind),
  });
}

/** The address of the public moderation log, from `cursor` on. */
export function logAddress(query: URLSearchParams): PageAddress {
  const cursor = query.get('cursor') ?? '';
  const isValid = cursor !== '' && isModerationCursor(cursor);
  return { path: paths.moderationLog(isValid ? cursor : undefined), faulty: cursor !== '' && !isValid };
}

/** The address of a product: `comments` is a cursor into its discussion, best first. */
export function productAddress(id: string, query: URLSearchParams): PageAddress {
  return clean('product', paths.product(id), query, {
    comments: (text) => isCommentCursor(text, 'best'),
  });
}

type Parameter<Route extends keyof typeof ROUTES> = (typeof ROUTES)[Route]['parameters'][number];

function clean<Route extends keyof typeof ROUTES>(
  route: Route,
  pathname: string,
  query: URLSearchParams,
  checks: Record<Parameter<Route>, (text: string) => boolean>,
): PageAddress {
  if (query.size === 0) return { path: pathname, faulty: false };
  const cleaned = new URLSearchParams();
  let faulty = false;
  for (const name of ROUTES[route].parameters as readonly Parameter<Route>[]) {
    const text = query.get(name);
    if (text === null || text === '') continue;
    if (checks[name](text)) cleaned.set(name, text);
    else faulty = true;
  }
  return { path: cleaned.size > 0 ? `${pathname}?${cleaned}` : pathname, faulty };
}
