import { anySignal } from '../../contract/any-signal.ts';
import { SESSION_HEADER } from '../../contract/api.ts';
import { withQuery } from '../../contract/paths/api.ts';
import * as paths from '../../contract/paths.ts';
import { intlLocale, t, translated } from '../language/translate.ts';
import type { AppApi } from './api-context.tsx';

/**
 * A failed API request. `status` is 0 if no usable response arrived. `message` may be shown to visitors.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  /**
   * The `title` of the error response, in English. The message catalogues translate the titles that visitors may see.
   */
  title?: string;

  constructor(status: number, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}

/**
 * Returns the message of a thrown value. On translated pages, an `ApiError` yields its translated title instead,
 * because the API's detailed messages exist only in English.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return translated((intlLocale() && error instanceof ApiError && error.title) || error.message);
}

/** Longer than a write usually takes on the server, so a write that times out here rarely completes later. */
const TIMEOUT_MS = 40_000;

/**
 * Browsers complete `keepalive` requests even after the visitor leaves the page, but allow at most 64 KiB for all their
 * bodies together. A UTF-16 code unit takes at most 3 bytes in UTF-8.
 */
const MAX_KEEPALIVE_CHARACTERS = 16_000;

interface HttpApiOptions {
  /** Returns the visitor's session id. Called only for requests that send it. */
  sessionId: () => string;
  /** The prefix of every path. In the browser, it is empty. */
  origin?: string;
  timeoutMs?: number;
  /** Responses to upvotes that were sent before the app ran, by path. Each response is used at most once. */
  sentUpvotes?: Map<string, Promise<Response>>;
}

interface Call {
  /** Unset for reads. */
  method?: 'PUT' | 'POST' | 'DELETE';
  query?: object;
  body?: unknown;
  headers?: Record<string, string>;
  /** Whether to send the session id. Writes always send it. */
  sendsSession?: boolean;
  /** The response, if the request has already been sent. */
  sent?: Promise<Response> | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Implements the port `Api` over HTTP. Every failure is an `ApiError`, except an abort by the caller, which is rethrown
 * unchanged.
 */
export function createHttpApi({ sessionId, origin = '', timeoutMs = TIMEOUT_MS, sentUpvotes }: HttpApiOptions): AppApi {
  const writes = createWriteTracker();

  async function call<Result>(path: string, options: Call = {}): Promise<Result> {
    const { method, query, body, sendsSession, sent, signal } = options;
    const isWrite = method !== undefined;
    const headers: Record<string, string> = { Accept: 'application/json', ...options.headers };
    if (isWrite || sendsSession) headers[SESSION_HEADER] = sessionId();
    // `JSON.stringify` returns undefined if there is no body.
    const text: string | undefined = JSON.stringify(body);
    if (text) headers['Content-Type'] = 'application/json';
    const settle = isWrite ? writes.track() : undefined;
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await (sent ??
        fetch(origin + withQuery(path, query), {
          method: method ?? 'GET',
          headers,
          signal: anySignal(signal, timeout),
          keepalive: isWrite && (text?.length ?? 0) <= MAX_KEEPALIVE_CHARACTERS,
          body: text ?? null,
        }));
      if (!response.ok) throw await toApiError(response);
      const result = await response.json();
      // With status 200, an earlier call with the same idempotency key added the comment.
      if (response.status === 201) result.isNew = true;
      return result;
    } catch (error) {
      if (error instanceof ApiError || signal?.aborted) throw error;
      if ((error as Error).name === 'TimeoutError')
        throw new ApiError(0, 'timeout', 'The server took too long to respond', { cause: error });
      throw new ApiError(0, 'network', 'The server could not be reached', { cause: error });
    } finally {
      settle?.();
    }
  }

  return {
    msSinceLastWrite: writes.msSinceLast,

    listProducts: (query, signal) => call(paths.api.products, { query, signal }),
    listComments: (productId, query, signal) => call(paths.api.productComments(productId), { query, signal }),
    getProduct: (id, signal) => nullIfMissing(call(paths.api.product(id), { signal })),
    getRelatedProducts: (id, signal) => nullIfMissing(call(paths.api.related(id), { signal })),
    getLeaderboard: (period, query, signal) => nullIfMissing(call(paths.api.leaderboard(period), { query, signal })),
    getStandings: (productId, signal) => nullIfMissing(call(paths.api.standings(productId), { signal })),

    getUpvoted: (productIds) =>
      call(paths.api.upvotes, { query: { products: productIds.join(',') }, sendsSession: true }),

    listHeldComments: (productId, signal) => call(paths.api.heldComments(productId), { sendsSession: true, signal }),

    setUpvote(productId, upvoted) {
      const path = paths.api.upvote(productId);
      const sent = upvoted ? sentUpvotes?.get(path) : undefined;
      sentUpvotes?.delete(path);
      return call(path, { method: upvoted ? 'PUT' : 'DELETE', sent });
    },

    addComment: (comment, idempotencyKey, makerKey) =>
      call(paths.api.comments, {
        method: 'POST',
        body: comment,
        headers: { 'Idempotency-Key': idempotencyKey, ...(makerKey && { Authorization: `Bearer ${makerKey}` }) },
      }),

    likeComment: (commentId) => call(paths.api.like(commentId), { method: 'POST' }),
  };
}

/** Reads an error in problem+json format. An HTML error page from a proxy provides only its status. */
async function toApiError(response: Response): Promise<ApiError> {
  const { status } = response;
  // If the body is not JSON, `Object(null)` is an empty object, so the defaults apply.
  const {
    code = 'unknown',
    title,
    detail = t('The server responded with {status}', { status }),
  } = Object(await response.json().catch(() => null));
  return Object.assign(new ApiError(status, String(code), String(detail)), { title });
}

/**
 * Resolves to null for an unknown product or leaderboard. Rethrows other errors, including the 404 page from a proxy,
 * which has no error code.
 */
async function nullIfMissing<Result>(request: Promise<Result>): Promise<Result | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404 && error.code !== 'unknown') return null;
    throw error;
  }
}

/**
 * The session storage key that marks a pending write. Its value is the `performance.timeOrigin` of the page that sent
 * the write.
 */
export const PENDING_WRITE_KEY = 'write_pending';

/** The session storage key of the time at which a write last completed, in milliseconds since 1970. */
const SETTLED_WRITE_KEY = 'write_settled';

/** Tracks this page's pending writes. */
export function createWriteTracker() {
  let pending = 0;
  let settledAt = Number.NEGATIVE_INFINITY;
  return {
    /**
     * Records that a write is pending, for this page and the next one. Call the returned function when the write has
     * succeeded or failed. If the visitor leaves before that, the next page knows that its document may predate the
     * write.
     */
    track(): () => void {
      pending += 1;
      // The previous page's mark stays until `recheckVotes` has read it.
      withSessionStorage(
        (storage) => hasUnfinishedWrite() || storage.setItem(PENDING_WRITE_KEY, String(performance.timeOrigin)),
      );
      return () => {
        pending -= 1;
        settledAt = performance.now();
        withSessionStorage((storage) => storage.setItem(SETTLED_WRITE_KEY, String(performance.timeOrigin + settledAt)));
        // When the visitor leaves, the page is hidden and its requests appear to fail, but the browser still completes
        // them.
        withSessionStorage(
          (storage) => pending > 0 || document.hidden || hasUnfinishedWrite() || storage.removeItem(PENDING_WRITE_KEY),
        );
      };
    },

    /** Milliseconds since the last write completed: 0 while one is pending, `Infinity` if there was none. */
    msSinceLast: () => (pending > 0 ? 0 : performance.now() - settledAt),
  };
}

/**
 * Returns whether a write of the previous page completed after this page was requested, so this page may not include
 * the write.
 */
export function predatesWrite(): boolean {
  return withSessionStorage((storage) => Number(storage.getItem(SETTLED_WRITE_KEY)) > performance.timeOrigin) === true;
}

/** Returns whether the visitor left the previous page while a write was pending. */
export function hasUnfinishedWrite(): boolean {
  const isOfOther = (mark: string | null) => mark !== null && mark !== String(performance.timeOrigin);
  return withSessionStorage((storage) => isOfOther(storage.getItem(PENDING_WRITE_KEY))) === true;
}

function withSessionStorage(use: (storage: Storage) => unknown): unknown {
  try {
    return use(window.sessionStorage);
  } catch {
    // Without storage, the next page may show a cached document that lacks the write, until it refetches its data.
  }
}
