import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DEFAULT_COMMENT_SORT } from '../../contract/comments/defaults.ts';
import { PERIOD_KINDS, type PeriodKind, parsePeriod } from '../../contract/leaderboards/period.ts';
import { LIMITS } from '../../contract/limits.ts';
import { moderationLog } from '../../contract/paths/moderation-log.ts';
import * as paths from '../../contract/paths.ts';
import { type ProductSort, ProductSortSchema } from '../../contract/products/schema.ts';
import { hasOnlyLanguageParam, isModerationLog, ROUTES, withLanguage } from '../../contract/routes.ts';
import { isStorableText } from '../../contract/text.ts';
import { isModerationCursor } from '../../core/audit/moderation-log.ts';
import { isCommentCursor } from '../../core/comments/list-comments.ts';
import { CoreError } from '../../core/core-error.ts';
import { isLeaderboardCursor } from '../../core/leaderboards/get-leaderboard.ts';
import { isProductCursor } from '../../core/products/list-products.ts';
import { chargeRevalidation } from '../cache/send-cached.ts';
import { NO_STORE } from '../http/cache-control.ts';
import type { ChargeRequest } from '../limits/limit-requests.ts';
import { inLanguageOf, type KnownLanguages, languageOf } from '../pages/languages.ts';
import type { PageRenderer, Pages } from '../pages/pages.ts';

const PRODUCTS = paths.product('');

interface Options {
  pages: Pages;
  renderer: Pick<PageRenderer, 'languages'>;
  charge: ChargeRequest;
  hasModerationLog: boolean;
  /** Returns the names of the current periods. */
  currentPeriods: () => Record<PeriodKind, string>;
}

/** Adds the routes of all pages. `addNotFound` handles every other URL. */
export function addPageRoutes(
  app: FastifyInstance,
  { pages, renderer, charge, hasModerationLog, currentPeriods }: Options,
): void {
  app.get('/', (request, reply) => {
    const query = queryOf(request);
    const { languages } = renderer;
    const board = query.get('board') ?? '';
    if (isPeriodKind(board)) {
      const { path } = homeAddress(query, languages);
      return reply.redirect(inLanguageOf(paths.board(currentPeriods()[board]), path), 302);
    }
    if (hasModerationLog && isModerationLog(paths.home, query))
      return sendAt(logAddress(query, languages), request, reply);
    const address = board === '' ? homeAddress(query, languages) : boardAddress(query, languages);
    return sendAt(address, request, reply);
  });
  app.get<{ Params: { id: string } }>(paths.product.route, (request, reply) => {
    const { id } = request.params;
    // The route matches these ids, but no page has their path: URL parsers resolve `/product/..` to the home page.
    if (['', '.', '..'].includes(id)) return reply.callNotFound();
    const { path, needsRedirect } = productAddress(id, queryOf(request), renderer.languages);
    // The browser app does not decode the path, so at `/%70roduct/git` it would show the 404 page.
    const isEscaped = request.url.startsWith('/') && !request.url.startsWith(PRODUCTS);
    return sendAt({ path, needsRedirect: needsRedirect || isEscaped }, request, reply, id);
  });

  function sendAt(
    { path, needsRedirect }: PageAddress,
    request: FastifyRequest,
    reply: FastifyReply,
    productId?: string | undefined,
  ) {
    if (needsRedirect) return reply.redirect(withDialog(path, request), 302);
    const code = renderer.languages.negotiate(path, request.headers['accept-language']);
    // Each URL has one language, for caches, search engines and offline reading.
    if (code !== undefined) {
      reply.header('Vary', 'Accept-Language').header('Cache-Control', NO_STORE);
      return reply.redirect(withLanguage(withDialog(path, request), code), 302);
    }
    const isPlain = hasOnlyLanguageParam(path);
    // Few visitors share a page whose URL has parameters other than `lang`, so producing it counts against the search
    // limit.
    const reading = chargeRevalidation(charge, request, reply, !isPlain);
    const chargeUnknown = () => charge('search', request, reply);
    const product = isPlain && productId !== undefined ? { id: productId, chargeUnknown } : undefined;
    const respondTo = async (error: unknown): Promise<void> => {
      if (!(error instanceof CoreError)) throw error;
      if (error.code === 'not_found') return void reply.redirect(alternativeTo(path), 302);
      if (error.code === 'rate_limited') return void (await pages.sendRefusal(path, error, reply));
      throw error;
    };
    try {
      return pages.send(path, request, reply, { reading, product })?.catch(respondTo);
    } catch (error) {
      return respondTo(error);
    }
  }
}

/**
 * Returns the redirect target of a page without content: the start of the list if its cursor is past the end, or the
 * home page if its period has no leaderboard.
 */
function alternativeTo(path: string): string {
  const start = path.replace(/(?<=[?&])(?:cursor|comments)=[^&]*&?/, '').replace(/[?&]$/, '');
  return start === path ? inLanguageOf(paths.home, path) : start;
}

function isPeriodKind(text: string): text is PeriodKind {
  return (PERIOD_KINDS as readonly string[]).includes(text);
}

function queryOf(request: FastifyRequest): URLSearchParams {
  const start = request.url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : request.url.slice(start + 1));
}

/** Adds the parameter `submit`, which opens the submission dialog, if the request has it. Normalized URLs omit it. */
function withDialog(path: string, request: FastifyRequest): string {
  return queryOf(request).has('submit') ? `${path}${path.includes('?') ? '&' : '?'}submit` : path;
}

/** A normalized URL of a page: `path` has only valid parameters, in the order of `ROUTES`. */
interface PageAddress {
  path: string;
  /** Whether a parameter was invalid; then the visitor is redirected to `path`. */
  needsRedirect: boolean;
}

const SORTS: ReadonlySet<string> = new Set(ProductSortSchema.anyOf.map((sort) => sort.const));

function isSort(text: string): text is ProductSort {
  return SORTS.has(text);
}

/** Returns the URL of the list, with `q`, `tag`, `sort`, and the `cursor` of a later page. */
export function homeAddress(query: URLSearchParams, languages?: KnownLanguages): PageAddress {
  const sort = query.get('sort') ?? 'newest';
  return normalize('home', paths.home, query, languages, {
    q: (text) => isStorableText(text) && [...text].length <= LIMITS.searchCharacters,
    tag: (text) => isStorableText(text) && [...text].length <= LIMITS.tagCharacters,
    sort: isSort,
    cursor: (text) => isSort(sort) && isProductCursor(text, sort),
  });
}

/** Returns the URL of a leaderboard, with the `cursor` of a later page. An invalid period leads to the home page. */
function boardAddress(query: URLSearchParams, languages?: KnownLanguages): PageAddress {
  const period = parsePeriod(query.get('board') ?? '');
  if (period === undefined) return { ...homeAddress(query, languages), needsRedirect: true };
  return normalize('board', paths.home, query, languages, {
    board: () => true,
    cursor: (text) => isLeaderboardCursor(text, period.kind),
  });
}

/** Returns the URL of the public moderation log, with the `cursor` of a later page. */
export function logAddress(query: URLSearchParams, languages?: KnownLanguages): PageAddress {
  const cursor = query.get('cursor') ?? '';
  const isValid = cursor !== '' && isModerationCursor(cursor);
  const language = languageOf(query, languages);
  return {
    path: withLanguage(moderationLog(isValid ? cursor : undefined), language.code),
    needsRedirect: (cursor !== '' && !isValid) || language.isInvalid,
  };
}

/** Returns the URL of a product's page. Its parameter `comments` is a cursor into the comments in the order `best`. */
export function productAddress(id: string, query: URLSearchParams, languages?: KnownLanguages): PageAddress {
  return normalize('product', paths.product(id), query, languages, {
    comments: (text) => isCommentCursor(text, DEFAULT_COMMENT_SORT),
  });
}

type Parameter<Route extends keyof typeof ROUTES> = Exclude<(typeof ROUTES)[Route]['parameters'][number], 'lang'>;

function normalize<Route extends keyof typeof ROUTES>(
  route: Route,
  pathname: string,
  query: URLSearchParams,
  languages: KnownLanguages | undefined,
  checks: Record<Parameter<Route>, (text: string) => boolean>,
): PageAddress {
  if (query.size === 0) return { path: pathname, needsRedirect: false };
  const params = new URLSearchParams();
  const language = languageOf(query, languages);
  let needsRedirect = language.isInvalid;
  for (const name of ROUTES[route].parameters as readonly (Parameter<Route> | 'lang')[]) {
    if (name === 'lang') continue;
    const text = query.get(name);
    if (text === null || text === '') continue;
    if (checks[name](text)) params.set(name, text);
    else needsRedirect = true;
  }
  if (language.code !== undefined) params.set('lang', language.code);
  return { path: params.size > 0 ? `${pathname}?${params}` : pathname, needsRedirect };
}
