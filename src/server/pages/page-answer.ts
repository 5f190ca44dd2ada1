import type { FastifyBaseLogger } from 'fastify';
import type { ReadApi } from '../../contract/api.ts';
import type { Answer } from '../cache/answer.ts';
import { recordReads } from '../cache/read-recorder.ts';
import { NO_STORE, PAGE } from '../http/caching.ts';
import type { PageRenderer } from './renderer.ts';

/** Renders a page into an answer that knows what it was made from. */
export async function pageAnswer(
  renderer: PageRenderer,
  path: string,
  api: ReadApi,
  log: FastifyBaseLogger,
): Promise<Answer> {
  const recorder = recordReads(api);
  const page = await renderer.render(path, recorder.api);
  for (const problem of page.problems) log.error({ err: problem }, problem.message);
  return {
    status: page.status,
    type: 'text/html; charset=utf-8',
    cacheControl: page.status === 200 ? PAGE : NO_STORE,
    body: page.html,
    reads: recorder.reads(),
  };
}
