import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PERIOD_KINDS, type PeriodKind } from '../../contract/leaderboards/period.ts';
import { paths } from '../../contract/paths.ts';
import { CoreError } from '../../core/core-error.ts';
import type { RevalidationReason } from '../cache/cached-response.ts';
import type { ChargeRequest } from '../limits/limit-requests.ts';
import { boardAddress, homeAddress, logAddress, type PageAddress, productAddress } from '../pages/page-address.ts';
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
