import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ReadApi } from '../../contract/api.ts';
import type { CoreError } from '../../core/core-error.ts';
import { PAGE_FRESHNESS } from '../cache/answer.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import { sendFromCache } from '../cache/send-answer.ts';
import { NO_STORE } from '../http/caching.ts';
import { problem } from '../http/problems.ts';
import { wroteAt } from '../http/wrote-cookie.ts';
import { type IsRemoved, pageAnswer } from './page-answer.ts';
import type { PageRenderer } from './renderer.ts';

/** The pages of the site, each rendered once per version for all visitors. */
export interface Pages {
  /** Answers with the page at a path of `page-address.ts`, or the 404 page. */
  send(path: string, request: FastifyRequest, reply: FastifyReply): undefined | Promise<void>;
  /** Answers with the page as it is when nothing could be read, which offers to try again. */
  sendRefusal(path: string, refusal: CoreError, reply: FastifyReply): Promise<FastifyReply>;
  /** Answers with the 404 page. */
  sendNotFound(request: FastifyRequest, reply: FastifyReply): undefined | Promise<void>;
  /** Whether a page would be rendered, rather than sent as it is. */
  isCached(path: string): boolean;
}

/** Rendered in place of every unknown path: they all have the same page. */
const SOME_UNKNOWN_PATH = '/404';

export function createPages(renderer: PageRenderer, api: ReadApi, cache: AnswerCache, isRemoved: IsRemoved): Pages {
  function send(path: string, request: FastifyRequest, reply: FastifyReply): undefined | Promise<void> {
    const page = {
      key: path,
      freshness: PAGE_FRESHNESS,
      notBefore: wroteAt(request),
      produce: () => pageAnswer(renderer, path, api, request.log, isRemoved),
    };
    return sendFromCache(cache, page, request, reply);
  }

  async function sendRefusal(path: string, refusal: CoreError, reply: FastifyReply): Promise<FastifyReply> {
    const refuse = () => Promise.reject(refusal);
    const page = await renderer.render(path, { listProducts: refuse, getProduct: refuse, listComments: refuse });
    const { status } = problem(refusal.code, refusal.message);
    return reply.code(status).type('text/html; charset=utf-8').header('Cache-Control', NO_STORE).send(page.html);
  }

  return {
    send,
    sendRefusal,
    sendNotFound: (request, reply) => send(SOME_UNKNOWN_PATH, request, reply),
    isCached: (path) => cache.has(path),
  };
}
