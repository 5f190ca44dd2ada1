import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CoreError } from '../../core/core-error.ts';
import type { ChargeRequest } from '../limits/limit-requests.ts';
import { homeAddress, type PageAddress, productAddress } from '../pages/page-address.ts';
import type { Pages } from '../pages/pages.ts';

const NO_QUERY = new URLSearchParams();
const HOME = homeAddress(NO_QUERY);

/** The two pages that there are; every other address an HTML visitor asks for is the 404 page. */
export function addPageRoutes(app: FastifyInstance, pages: Pages, charge: ChargeRequest): void {
  app.get('/', (request, reply) => {
    const query = queryOf(request);
    const address = query === undefined ? HOME : homeAddress(query);
    if (query?.get('q') && !address.faulty && !pages.isCached(address.path)) {
      try {
        charge('search', request, reply);
      } catch (refusal) {
        if (refusal instanceof CoreError) return pages.sendRefusal(address.path, refusal, reply);
        throw refusal;
      }
    }
    return sendAt(address, request, reply);
  });
  app.get<{ Params: { id: string } }>('/product/:id', (request, reply) =>
    sendAt(productAddress(request.params.id, queryOf(request) ?? NO_QUERY), request, reply),
  );

  function sendAt({ path, faulty }: PageAddress, request: FastifyRequest, reply: FastifyReply) {
    return faulty ? reply.redirect(path, 302) : pages.send(path, request, reply);
  }
}

function queryOf(request: FastifyRequest): URLSearchParams | undefined {
  const start = request.url.indexOf('?');
  return start === -1 ? undefined : new URLSearchParams(request.url.slice(start + 1));
}
