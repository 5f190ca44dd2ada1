import type { Api } from '../../contract/api.ts';
import type { AddedComment } from '../../contract/comments/schema.ts';
import { paths } from '../../contract/paths.ts';
import { PRODUCT_MESSAGES } from '../../contract/products/messages.ts';
import { SESSION_HEADER } from '../../contract/session.ts';
import { ApiError } from './api-error.ts';
import { notePendingWrite } from './pending-write.ts';

const TIMEOUT_MS = 15_000;

/** A browser finishes a request of a page that was left, if it is below 64 KB; a character is at most 3 bytes. */
const KEPT_ALIVE_CHARACTERS = 16_000;

interface HttpApiOptions {
  /** The visitor's session id, asked for only when a call is personal. */
  sessionId: () => string;
  /** Put before every path; empty in the browser. */
  origin?: string;
  timeoutMs?: number;
}

interface Call {
  method?: 'GET' | 'PUT' | 'POST' | 'DELETE';
  query?: object;
  body?: unknown;
  headers?: Record<string, string>;
  personal?: boolean;
  signal?: AbortSignal | undefined;
}

/** The API port over HTTP. Every failure is an `ApiError`, except an abort by the caller, which stays what it was. */
export function createHttpApi({ sessionId, origin = '', timeoutMs = TIMEOUT_MS }: HttpApiOptions): Api {
  async function call<Answer>(path: string, options: Call = {}): Promise<Answer> {
    const { method = 'GET', query, body, personal = false, signal } = options;
    const headers: Record<string, string> = { Accept: 'application/json', ...options.headers };
    if (personal) headers[SESSION_HEADER] = sessionId();
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const text = body === undefined ? undefined : JSON.stringify(body);
    const isWrite = method !== 'GET';
    const settle = isWrite ? notePendingWrite() : undefined;
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(`${origin}${path}${toSearch(query)}`, {
        method,
        headers,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        keepalive: isWrite && (text?.length ?? 0) <= KEPT_ALIVE_CHARACTERS,
        ...(text === undefined ? {} : { body: text }),
      });
      if (!response.ok) throw await toApiError(response);
      return (await response.json()) as Answer;
    } catch (error) {
      if (error instanceof ApiError || signal?.aborted) throw error;
      if (timeout.aborted) throw new ApiError(0, 'timeout', 'The server took too long to answer', { cause: error });
      throw new ApiError(0, 'network', 'The server could not be reached', { cause: error });
    } finally {
      settle?.();
    }
  }

  return {
    listProducts: (query, signal) => call(paths.api.products, { query, signal }),

    async getProduct(id, signal) {
      try {
        return await call(paths.api.product(id), { signal });
      } catch (error) {
        if (isUnknownProduct(error)) return null;
        throw error;
      }
    },

    listComments: (productId, query, signal) => call(paths.api.productComments(productId), { query, signal }),

    getUpvoted: (productIds, signal) =>
      call(paths.api.upvotes, { query: { products: productIds.join(',') }, personal: true, signal }),

    listHeldComments: (productId, signal) => call(paths.api.heldComments(productId), { personal: true, signal }),

    setUpvote: (productId, upvoted) =>
      call(paths.api.upvote(productId), { method: upvoted ? 'PUT' : 'DELETE', personal: true }),

    async addComment(comment, idempotencyKey) {
      const answer = await call<AddedComment>(paths.api.comments, {
        method: 'POST',
        body: comment,
        headers: { 'Idempotency-Key': idempotencyKey },
        personal: true,
      });
      return answer.comment;
    },

    likeComment: (commentId) => call(paths.api.like(commentId), { method: 'POST', personal: true }),
  };
}

function toSearch(query: object = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') params.set(name, String(value));
  }
  return params.size === 0 ? '' : `?${params}`;
}

/** Reads problem+json; a proxy's HTML error page has only its status to tell. */
async function toApiError(response: Response): Promise<ApiError> {
  const fallback = `The server answered ${response.status}`;
  const problem: unknown = await response.json().catch(() => null);
  if (typeof problem !== 'object' || problem === null) return new ApiError(response.status, 'unknown', fallback);
  const { code, detail } = problem as { code?: unknown; detail?: unknown };
  return new ApiError(
    response.status,
    typeof code === 'string' ? code : 'unknown',
    typeof detail === 'string' ? detail : fallback,
  );
}

/** An id that no product can have is refused as a bad request; to a visitor both mean that there is no such product. */
function isUnknownProduct(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 404 || error.message === PRODUCT_MESSAGES.notFound;
}
