import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { ReadApi } from '../../contract/api.ts';
import { withLanguage } from '../../contract/routes.ts';
import { CoreError } from '../../core/core-error.ts';
import type { Runtime } from '../../core/runtime.ts';
import { type Brand, NO_BRAND } from '../../settings/brand.ts';
import { CATALOGUES, emptyPage, render as renderPage } from '../../web/entry-server.tsx';
import { readCachedOrNull, relatedResponse } from '../cache/api-response.ts';
import {
  type CacheableResponse,
  type Dependencies,
  PAGE_FRESHNESS,
  type RevalidationReason,
} from '../cache/cached-response.ts';
import { type CachedApi, trackDependencies } from '../cache/dependency-tracker.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { sendFromCache } from '../cache/send-cached.ts';
import { NO_STORE, PAGE_CACHING } from '../http/cache-control.ts';
import { lastWriteOf } from '../http/last-write-cookie.ts';
import { problem } from '../http/problems.ts';
import { inlineHash } from '../http/security-headers.ts';
import type { SiteIdentity } from '../http/site-identity.ts';
import { createTokenBuckets } from '../limits/token-buckets.ts';
import type { ClientBuild } from './client-build.ts';
import { renderDocument } from './document.ts';
import { languageOf, type SiteLanguages, type SiteLocale, siteLanguages } from './languages.ts';

/** The pages of the site, each rendered once per version for all visitors. */
export interface Pages {
  /** Sends the page at a normalized path (see `routes/pages.ts`), or the 404 page. */
  send(path: string, request: FastifyRequest, reply: FastifyReply, charges?: PageCharges): undefined | Promise<void>;
  /**
   * Sends the error page, which offers a retry. Above `MAX_RENDERED_REFUSALS`, sends the app shell, which costs less.
   */
  sendRefusal(path: string, refusal: CoreError, reply: FastifyReply): Promise<FastifyReply>;
  /** Sends the 404 page in the language of the URL, or else of the browser. */
  sendNotFound(request: FastifyRequest, reply: FastifyReply): undefined | Promise<void>;
}

/** Counts a request for a page against the client's rate limits, before rendering. @throws CoreError `rate_limited`. */
interface PageCharges {
  reading(reason: RevalidationReason): void;
  /**
   * The product of the page. If it does not exist, `chargeUnknown` counts the request: clients can request any number
   * of unknown ids, and the pages for them are not cached.
   */
  product?: { id: string; chargeUnknown(): void } | undefined;
}

interface PagesOptions {
  renderer: PageRenderer;
  api: CachedApi;
  cache: ResponseCache;
  log: FastifyBaseLogger;
  runtime: Runtime;
  /** Returns whether an operator removed a product with this id. */
  isRemoved: (productId: string) => Promise<boolean>;
  /** The current day in the site's time zone, as `YYYY-MM-DD`. */
  today: () => string;
}

/**
 * The maximum rate at which error pages for rate-limited requests are rendered. Rendering one costs as much as
 * rendering the requested page.
 */
const MAX_RENDERED_REFUSALS = { amount: 5, seconds: 1 };

/** The maximum rate at which the same failure is logged, because an outage makes every rendering fail. */
const MAX_LOGGED_FAILURES = { amount: 10, seconds: 60 };

/** The URL rendered for every unknown path, since all of them share one page. */
const NOT_FOUND_PATH = '/404';

export function createPages({ renderer, api, cache, log, runtime, isRemoved, today }: PagesOptions): Pages {
  const renderedRefusals = createTokenBuckets({ ...MAX_RENDERED_REFUSALS, now: runtime.monotonicMs });
  const loggedFailures = createTokenBuckets({ ...MAX_LOGGED_FAILURES, now: runtime.monotonicMs });

  const send: Pages['send'] = (path, request, reply, charges) => {
    let isNew = false;
    const wanted = {
      key: path,
      freshness: PAGE_FRESHNESS,
      // The 404 page, which has no charges, shows nothing that a visitor can write.
      notBefore: charges && lastWriteOf(request, runtime),
      async produce() {
        const { product } = charges ?? {};
        if (!isNew || product === undefined) return render(path, api);
        const found = api.getProduct(product.id);
        // If the read fails, rendering handles the error.
        if ((await found.catch(() => undefined)) === null) product.chargeUnknown();
        return render(path, {
          ...api,
          getProduct: (id, signal) => (id === product.id ? found : api.getProduct(id, signal)),
        });
      },
      charge(reason: RevalidationReason) {
        charges?.reading(reason);
        isNew = reason === 'miss';
      },
    };
    return sendFromCache(cache, wanted, request, reply);
  };

  async function render(path: string, from: CachedApi): Promise<CacheableResponse> {
    const reads: CachedApi = {
      ...from,
      // Related products come from the cache, because the votes and comments that cause most renderings do not change
      // them.
      getRelatedProducts: (id) => readCachedOrNull(cache, relatedResponse(api, id)),
    };
    const tracker = trackDependencies(reads, { standingsOf: 'neighbours' });
    const page = await renderer.render(path, tracker.api, { today: today(), renderedAt: runtime.now().getTime() });
    // `routes/pages.ts` turns this error into a redirect.
    if (page.status === 302) throw new CoreError('not_found', 'There is nothing at this address.');
    for (const failure of page.problems) {
      if (loggedFailures.take(failure.message)) log.error({ err: failure }, failure.message);
    }
    const dependencies = tracker.dependencies();
    const isIncomplete = page.status === 200 && page.problems.length > 0;
    return {
      status: await statusOf(page.status, dependencies),
      type: 'text/html; charset=utf-8',
      cacheControl: page.status === 200 && !isIncomplete ? PAGE_CACHING : NO_STORE,
      body: page.html,
      dependencies,
      isIncomplete,
      ...(renderer.languages.isNegotiated(path) && { vary: 'Accept-Language' }),
    };
  }

  async function renderRefusal(path: string, refusal: CoreError): Promise<string> {
    const refuse = () => Promise.reject(refusal);
    const refusing = Object.fromEntries(Object.keys(api).map((name) => [name, refuse]));
    const page = await renderer.render(path, refusing as Record<keyof ReadApi, typeof refuse>);
    return page.html;
  }

  /** Returns the status of a page. For a removed product, it is 410 Gone, so search engines drop the page. */
  async function statusOf(status: number, { products: [id] }: Dependencies): Promise<number> {
    return status === 404 && id !== undefined && (await isRemoved(id)) ? 410 : status;
  }

  return {
    send,
    async sendRefusal(path, refusal, reply) {
      const html = renderedRefusals.take('') ? await renderRefusal(path, refusal) : renderer.shell();
      const { status } = problem(refusal.code, refusal.message);
      return reply.code(status).type('text/html; charset=utf-8').header('Cache-Control', NO_STORE).send(html);
    },
    sendNotFound(request, reply) {
      const { languages } = renderer;
      const query = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
      const wanted = languages.negotiate(NOT_FOUND_PATH, request.headers['accept-language']);
      return send(withLanguage(NOT_FOUND_PATH, languageOf(query, languages).code ?? wanted), request, reply);
    },
  };
}

/** Turns a URL into a complete document, which is the same for every visitor. */
export interface PageRenderer {
  readonly site: SiteIdentity;
  readonly brand: Brand;
  readonly languages: SiteLanguages;
  /** The digest of the inline script, for the content security policy. */
  readonly scriptHash: string;
  /**
   * Renders the page of a path, reading through `api`, so the caller can record dependencies. `today` and `renderedAt`
   * are the current day and time on the site's clock.
   */
  render(
    path: string,
    api: ReadApi,
    now?: { today?: string; renderedAt?: number },
  ): Promise<{ status: number; html: string; problems: readonly Error[] }>;
  /**
   * Returns the app shell: a document without page content, which browsers load while offline. `renderedAt` defaults to
   * the current time.
   */
  shell(renderedAt?: number): string;
}

export interface RendererOptions {
  site: SiteIdentity;
  build: ClientBuild;
  /** The value of SITE_LOCALE. Default: English. */
  locale?: SiteLocale | undefined;
  /** If unset, the site has the default brand. */
  brand?: Brand | undefined;
}

/** Creates the renderer of a built site. */
export function createPageRenderer({ site, build, locale, brand = NO_BRAND }: RendererOptions): PageRenderer {
  const languages = siteLanguages(CATALOGUES, (code) => build.messages[code], locale);
  return {
    site,
    brand,
    languages,
    scriptHash: inlineHash(build.headScript),
    async render(path, api, { today = '', renderedAt } = {}) {
      const page = await renderPage({
        url: path,
        api,
        site: { ...site, url: site.url(), today },
        renderedAt,
        languages,
      });
      return { status: page.status, html: renderDocument(page, build, brand), problems: page.problems ?? [] };
    },
    shell(renderedAt) {
      const known = { site: { ...site, url: site.url(), today: '' }, renderedAt, languages };
      return renderDocument(emptyPage(known), build, brand);
    },
  };
}
