import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ChargeRequest } from '../limits/limit-requests.ts';
import { homeAddress, type PageAddress, productAddress } from '../pages/page-address.ts';
import type { Pages } from '../pages/pages.ts';

/** The two pages that there are; every other address an HTML visitor asks for is the 404 page. */
export function addPageRoutes(app: FastifyInstance, pages: Pages, charge: ChargeRequest): void {
  app.get('/', async (request, reply) => {
    const query = queryOf(request);
    const address = homeAddress(query);
    if (query.get('q') && !address.faulty && !pages.isCached(address.path)) charge('search', request, reply);
    return sendAt(address, request, reply);
  });
  app.get<{ Params: { id: string } }>('/product/:id', (request, reply) =>
    sendAt(productAddress(request.params.id, queryOf(request)), request, reply),
  );

  function sendAt({ path, faulty }: PageAddress, request: FastifyRequest, reply: FastifyReply) {
    return faulty ? reply.redirect(path, 302) : pages.send(path, request, reply);
  }
}

function queryOf(request: FastifyRequest): URLSearchParams {
  const start = request.url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : request.url.slice(start + 1));
}
