import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PERIOD_KINDS, type PeriodKind, parsePeriod } from '../../contract/leaderboards/period.ts';
import { LIMITS } from '../../contract/limits.ts';
import { paths } from '../../contract/paths.ts';
import { ROUTES } from '../../contract/routes.ts';
import { isStorableText } from '../../contract/text.ts';
import { isModerationCursor } from '../../core/audit/moderation-log.ts';
import { isCommentCursor } from '../../core/comments/list-comments.ts';
import { CoreError } from '../../core/core-error.ts';
import { isLeaderboardCursor } from '../../core/leaderboards/get-leaderboard.ts';
import { isProductCursor } from '../../core/products/list-products.ts';
import type { RevalidationReason } from '../cache/cached-response.ts';
import type { ChargeRequest } from '../limits/limit-requests.ts';
import type { Pages } from '../pages/pages.ts';

const NO_QUERY = new URLSearchParams();
const HOME = homeAddress(NO_QUERY);

interface Options {
  pages: Pages;
  charge: ChargeRequest;
  /** The names of the current periods. */
  currentPeriods: () => Record<PeriodKind, string>;
}

/** All pages; every other address that accepts HTML is the 404 page. */
export function addPageRoutes(app: FastifyInstance, { pages, charge, currentPeriods }: Options): void {
  app.get('/', (request, reply) => {
    const query = queryOf(request);
    if (query === undefined) return sendAt(HOME, request, reply);
    const board = query.get('board') ?? '';
    if (isPeriodKind(board)) return reply.redirect(paths.board(currentPeriods()[board]), 302);
    if (board === '' && query.has('log')) return sendAt(logAddress(query), request, reply);
    return sendAt(board === '' ? homeAddress(query) : boardAddress(query), request, reply);
  });
  app.get<{ Params: { id: string } }>(paths.product.route, (request, reply) =>
    sendAt(productAddress(request.params.id, queryOf(request) ?? NO_QUERY), request, reply, request.params.id),
  );

  function sendAt(
    { path, faulty }: PageAddress,
    request: FastifyRequest,
    reply: FastifyReply,
    productId?: string | undefined,
  ) {
    if (faulty) return reply.redirect(path, 302);
    const isPlain = !path.includes('?');
    /**
     * Searches and later pages are rendered for few visitors each; others are charged only if a cookie demands a new
     * version.
     */
    const reading = (reason: RevalidationReason) => {
      if (!isPlain || reason === 'claim') charge('search', request, reason === 'miss' ? reply : undefined);
    };
    const chargeUnknown = () => charge('search', request, reply);
    const product = isPlain && productId !== undefined ? { id: productId, chargeUnknown } : undefined;
    try {
      return pages.send(path, request, reply, { reading, product })?.catch(async (error: unknown) => {
        // The site did not exist in that period, or the period is in the future.
        if (error instanceof CoreError && error.code === 'period_not_found')
          return void reply.redirect(paths.home, 302);
        if (error instanceof CoreError && error.code === 'rate_limited')
          return void (await pages.sendRefusal(path, error, reply));
        throw error;
      });
    } catch (refusal) {
      if (refusal instanceof CoreError && refusal.code === 'rate_limited')
        return pages.sendRefusal(path, refusal, reply);
      throw refusal;
    }
  }
}

function isPeriodKind(text: string): text is PeriodKind {
  return (PERIOD_KINDS as readonly string[]).includes(text);
}

function queryOf(request: FastifyRequest): URLSearchParams | undefined {
  const start = request.url.indexOf('?');
  return start === -1 ? undefined : new URLSearchParams(request.url.slice(start + 1));
}

/** A page's address after cleaning: `path` has only valid parameters, in the order of `ROUTES`. */
interface PageAddress {
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
function boardAddress(query: URLSearchParams): PageAddress {
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
