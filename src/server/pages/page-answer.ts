import type { FastifyBaseLogger } from 'fastify';
import type { ReadApi } from '../../contract/api.ts';
import type { Answer, Reads } from '../cache/answer.ts';
import { recordReads } from '../cache/read-recorder.ts';
import { NO_STORE, PAGE } from '../http/caching.ts';
import type { PageRenderer } from './renderer.ts';

/** Whether the operator removed a product of this id. */
export type IsRemoved = (productId: string) => Promise<boolean>;

/** Renders a page into an answer that knows what it was made from. */
export async function pageAnswer(
  renderer: PageRenderer,
  path: string,
  api: ReadApi,
  log: FastifyBaseLogger,
  isRemoved: IsRemoved,
): Promise<Answer> {
  const recorder = recordReads(api);
  const page = await renderer.render(path, recorder.api);
  for (const problem of page.problems) log.error({ err: problem }, problem.message);
  const reads = recorder.reads();
  return {
    status: await statusOf(page.status, reads, isRemoved),
    type: 'text/html; charset=utf-8',
    cacheControl: page.status === 200 ? PAGE : NO_STORE,
    body: page.html,
    reads,
  };
}

/** A product that was there once is 410 Gone: whoever links to it, or has it in an index, learns that it will not do so again. */
async function statusOf(status: number, { products: [id] }: Reads, isRemoved: IsRemoved): Promise<number> {
  return status === 404 && id !== undefined && (await isRemoved(id)) ? 410 : status;
}
