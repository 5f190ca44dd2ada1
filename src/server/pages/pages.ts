import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { ReadApi } from '../../contract/api.ts';
import { CoreError } from '../../core/core-error.ts';
import type { Runtime } from '../../core/runtime.ts';
import {
  type CacheableResponse,
  type Dependencies,
  PAGE_FRESHNESS,
  type RevalidationReason,
} from '../cache/cached-response.ts';
import { trackDependencies } from '../cache/dependency-tracker.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { sendFromCache } from '../cache/send-cached.ts';
import { lastWriteOf } from '../http/last-write-cookie.ts';
import { NO_STORE, PAGE, problem } from '../http/problems.ts';
import type { PageRenderer } from './renderer.ts';

/** The pages of the site, each rendered once per version for all visitors. */
export interface Pages {
  /** Sends the page at a path of `page-address.ts`, or the 404 page. `charge` is called before anything is rendered. */
  send(
    path: string,
    request: FastifyRequest,
    reply: FastifyReply,
    charge?: (reason: RevalidationReason) => void,
  ): undefined | Promise<void>;
  /** Sends the page for failed reads, which offers a retry. */
  sendRefusal(path: string, refusal: CoreError, reply: FastifyReply): Promise<FastifyReply>;
  /** Sends the 404 page. */
  sendNotFound(request: FastifyRequest, reply: FastifyReply): undefined | Promise<void>;
}

interface PagesOptions {
  renderer: PageRenderer;
  api: ReadApi;
  cache: ResponseCache;
  log: FastifyBaseLogger;
  runtime: Runtime;
  /** Whether the operator removed a product of this id. */
  isRemoved: (productId: string) => Promise<boolean>;
  /** The current day in the site's time zone, as `YYYY-MM-DD`. */
  today: () => string;
}

/** Rendered in place of every unknown path, since they all have the same page. */
const SOME_UNKNOWN_PATH = '/404';

export function createPages({ renderer, api, cache, log, runtime, isRemoved, today }: PagesOptions): Pages {
  const send: Pages['send'] = (path, request, reply, charge) => {
    const wanted = {
      key: path,
      freshness: PAGE_FRESHNESS,
      notBefore: lastWriteOf(request, runtime),
      produce: () => render(path),
      ...(charge && { charge }),
    };
    return sendFromCache(cache, wanted, request, reply);
  };

  async function render(path: string): Promise<CacheableResponse> {
    const tracker = trackDependencies(api, { standingsOf: 'neighbours' });
    const page = await renderer.render(path, tracker.api, today());
    if (page.status === 302) throw new CoreError('period_not_found', 'There is no leaderboard for this period');
    for (const fault of page.problems) log.error({ err: fault }, fault.message);
    const dependencies = tracker.dependencies();
    return {
      status: await statusOf(page.status, dependencies),
      type: 'text/html; charset=utf-8',
      cacheControl: page.status === 200 ? PAGE : NO_STORE,
      body: page.html,
      dependencies,
    };
  }

  /** A removed product is 410 Gone, so links and indexes to it are dropped. */
  async function statusOf(status: number, { products: [id] }: Dependencies): Promise<number> {
    return status === 404 && id !== undefined && (await isRemoved(id)) ? 410 : status;
  }

  return {
    send,
    async sendRefusal(path, refusal, reply) {
      const refuse = () => Promise.reject(refusal);
      const page = await renderer.render(path, {
        listProducts: refuse,
        getProduct: refuse,
        listComments: refuse,
        listLeaderboards: refuse,
        getLeaderboard: refuse,
        getStandings: refuse,
        ...(api.getModerationLog && { getModerationLog: refuse }),
      });
      const { status } = problem(refusal.code, refusal.message);
      return reply.code(status).type('text/html; charset=utf-8').header('Cache-Control', NO_STORE).send(page.html);
    },
    sendNotFound: (request, reply) => send(SOME_UNKNOWN_PATH, request, reply),
  };
}
