import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { REVALIDATE } from '../http/caching.ts';
import type { ChargeRequest } from '../limits/limit-requests.ts';
import { homeAddress, type PageAddress, productAddress } from '../pages/page-address.ts';
import type { PageRenderer } from '../pages/renderer.ts';

/** The two pages that there are; every other address an HTML visitor asks for is the 404 page. */
export function addPageRoutes(app: FastifyInstance, renderer: PageRenderer, charge: ChargeRequest): void {
  app.get('/', async (request, reply) => {
    const query = queryOf(request);
    const address = homeAddress(query);
    // Only what is really rendered: a page out of a cache is to be given before this.
    if (query.get('q') && !address.faulty) charge('search', request, reply);
    return sendAt(address, request, reply);
  });
  app.get<{ Params: { id: string } }>('/product/:id', (request, reply) =>
    sendAt(productAddress(request.params.id, queryOf(request)), request, reply),
  );

  function sendAt(
    { path, faulty }: PageAddress,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> | FastifyReply {
    return faulty ? reply.redirect(path, 302) : sendPage(renderer, path, request, reply);
  }
}

/** Answers with the page at a path, whatever it is. */
export async function sendPage(
  renderer: PageRenderer,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const page = await renderer.render(path);
  for (const problem of page.problems) request.log.error({ err: problem }, problem.message);
  return reply
    .code(page.status)
    .type('text/html; charset=utf-8')
    .header('Cache-Control', page.status === 200 ? REVALIDATE : 'no-store')
    .send(page.html);
}

function queryOf(request: FastifyRequest): URLSearchParams {
  const start = request.url.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : request.url.slice(start + 1));
}
