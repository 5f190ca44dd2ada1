import { QueryClient, useQuery } from '@tanstack/react-query';
import { anySignal } from '../../contract/any-signal.ts';
import { CONSOLE_API, OPERATOR_HEADER, UNATTENDED_HEADER } from '../../contract/console/paths.ts';
import { MAX_WAITING, type OverviewRecord, type WaitingRecord } from '../../contract/console/records.ts';
import type { ConsoleSession } from '../../contract/console/schema.ts';
import { withQuery } from '../../contract/paths/api.ts';
import type { FieldError } from '../../contract/problem.ts';
import { formatCount } from '../../contract/text.ts';

/** A failed request: the server's error, or no response at all (status 0). */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** The errors in fields of the request. */
    readonly fields: readonly FieldError[] = [],
    /** The current version of the item, after a conflict. */
    readonly current?: unknown,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

interface Call {
  method?: 'GET' | 'POST' | 'PATCH';
  query?: Record<string, string | number | boolean | undefined>;
  /** Sent as JSON, unless it is a `Blob`, such as a file. */
  body?: unknown;
  /** The media type of a `Blob`. Default: `application/octet-stream`. */
  contentType?: string;
  signal?: AbortSignal | undefined;
}

/** The event that `window` receives when a response says that the shown operator is no longer signed in. */
export const SIGNED_OUT = 'signedout';

/** The time limit of most requests. It is rarely reached, because the server cancels each SQL statement after 12 s. */
const TIMEOUT_MS = 40_000;
/** The time limit of uploads of pictures, and of operations whose SQL statements have no timeout. */
const LONG_TIMEOUT_MS = 10 * 60_000;
const LONG_OPERATIONS = /\/(?:doctor|remove|restore|undo|votes)$/;

/** The error code of a request that got no response within its time limit. */
const TIMED_OUT = 'timeout';
const hasTimedOut = (error: unknown) => error instanceof ConsoleError && error.code === TIMED_OUT;
const gotNoResponse = (error: unknown) => error instanceof ConsoleError && error.status === 0;

/** Calls the console's API. @throws ConsoleError if the request fails, or the reason of `signal` if it is aborted. */
export async function call<Result>(path: string, options: Call = {}): Promise<Result> {
  const { method = 'GET', query, body, contentType = 'application/octet-stream', signal } = options;
  const isLong = body instanceof Blob || LONG_OPERATIONS.test(path);
  const timeout = AbortSignal.timeout(isLong ? LONG_TIMEOUT_MS : TIMEOUT_MS);
  try {
    const response = await fetch(withQuery(path, query), {
      method,
      signal: anySignal(signal, timeout),
      ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }),
      headers: {
        ...(body !== undefined && { 'Content-Type': body instanceof Blob ? contentType : 'application/json' }),
        ...(method !== 'GET' && operatorHeader()),
        // A request with this header does not extend the session. User activation lasts a few seconds after each input.
        // Browsers without `userActivation` never send the header.
        ...(navigator.userActivation?.isActive === false && { [UNATTENDED_HEADER]: '1' }),
      },
    });
    if (!response.ok) throw await errorOf(response);
    return (response.status === 204 ? undefined : await response.json()) as Result;
  } catch (error) {
    if (error instanceof ConsoleError || signal?.aborted) throw error;
    if (timeout.aborted)
      throw new ConsoleError(0, TIMED_OUT, 'The site took too long to respond.', [], undefined, { cause: error });
    throw new ConsoleError(0, 'network', 'The site cannot be reached.', [], undefined, { cause: error });
  }
}

let shownOperator: string | undefined;

/** Returns the header that every write must contain, or false before the sign-in. */
export const operatorHeader = () => shownOperator !== undefined && { [OPERATOR_HEADER]: shownOperator };

interface BatchResult<Item, Result> {
  results: Result[];
  failures: { item: Item; error: unknown }[];
  unsent: Item[];
}

/**
 * Makes the browser ask for confirmation before the page is closed or left, if `isNeeded()` is true at that time.
 * @returns a function that removes this check.
 */
export function askBeforeUnload(isNeeded: () => boolean): () => void {
  const ask = (event: BeforeUnloadEvent) => {
    if (!isNeeded()) return;
    event.preventDefault();
    // Chrome and Edge before 119 ignore `preventDefault()`.
    event.returnValue = true;
  };
  window.addEventListener('beforeunload', ask);
  return () => window.removeEventListener('beforeunload', ask);
}

/**
 * Sends one request per item, one after the other, and continues if a request fails. Stops early if a request gets no
 * response (the browser may be offline), if `isCancelled()` returns true, or if another operator has signed in. Until
 * the batch ends, the browser asks for confirmation before the page is closed. Calls `onProgress` before each request
 * with the number of its item, starting at 1.
 * @throws ConsoleError if all sent requests fail: the first error that leaves the outcome unknown or, without one, the
 * first error.
 */
export async function sendEach<Item, Result>(
  items: readonly Item[],
  send: (item: Item) => Promise<Result>,
  onProgress: (item: number) => void = () => {},
  isCancelled: () => boolean = () => false,
): Promise<BatchResult<Item, Result>> {
  const results: Result[] = [];
  const failures: BatchResult<Item, Result>['failures'] = [];
  const stopAsking = askBeforeUnload(() => true);
  const operator = shownOperator;
  for (const [index, item] of items.entries()) {
    onProgress(index + 1);
    await send(item).then(
      (result) => results.push(result),
      (error: unknown) => failures.push({ item, error }),
    );
    if (isCancelled() || shownOperator !== operator || gotNoResponse(failures.at(-1)?.error)) break;
  }
  stopAsking();
  const { error } = failures.find((failure) => isOutcomeUnknown(failure.error)) ?? failures[0] ?? {};
  if (results.length === 0 && failures.length > 0) throw error;
  return { results, failures, unsent: items.slice(results.length + failures.length) };
}

/** Describes the items of a batch that were not changed, or may not have been. Returns an empty string if none. */
export function describeUnchanged<Item>(
  { failures, unsent }: Pick<BatchResult<Item, unknown>, 'failures' | 'unsent'>,
  describe: (items: readonly Item[]) => string,
): string {
  const refused = failures.filter(({ error }) => !isOutcomeUnknown(error));
  const lost = failures.filter(({ error }) => isOutcomeUnknown(error));
  const describeEach = (each: typeof failures) => describe(each.map(({ item }) => item));
  return [
    refused[0] && `Failed for ${describeEach(refused)}. ${messageOf(refused[0].error)}`,
    lost[0] && `No response for ${describeEach(lost)}. ${describeFailure(lost[0].error).description}`,
    unsent.length > 0 && `Cancelled for ${describe(unsent)}.`,
  ]
    .filter(Boolean)
    .join(' ');
}

/** Reads the error from a failed response. Dispatches `SIGNED_OUT` if the shown operator is not signed in. */
export async function errorOf(response: Response): Promise<ConsoleError> {
  const problem = (await response.json().catch(() => ({}))) as {
    code?: string;
    detail?: string;
    errors?: FieldError[];
    current?: unknown;
  };
  const isSession = response.url.endsWith(CONSOLE_API.session);
  // Once the last operator is revoked, the server responds as if there were no console.
  if (problem.code === 'not_found' && isSession) problem.code = 'not_signed_in';
  if (problem.code === 'not_signed_in' && !isSession) window.dispatchEvent(new Event(SIGNED_OUT));
  const { code = 'unknown', detail = `The server responded with ${response.status}.` } = problem;
  return new ConsoleError(response.status, code, detail, problem.errors, problem.current);
}

/** Returns the message of any error as plain text: without the backticks around its commands. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll('`', '');
}

/**
 * The statuses of requests whose outcome is unknown: 0 if there was no response, 502 and 504 from a proxy, and 504 also
 * from the server if its database did not confirm the change.
 */
const UNKNOWN_OUTCOMES = [0, 502, 504];

/** Returns whether a request failed in a way that leaves its outcome unknown. */
export const isOutcomeUnknown = (error: unknown) =>
  error instanceof ConsoleError && UNKNOWN_OUTCOMES.includes(error.status);

/** Returns whether a request failed without effect and may succeed later, for example after a sign-in. */
export const isTemporary = (error: unknown) => error instanceof ConsoleError && [401, 429, 503].includes(error.status);

/** Returns the message to the operator after a change failed, or may have failed. */
export function describeFailure(error: unknown): { title: string; description: string } {
  if (!isOutcomeUnknown(error)) return { title: 'The change failed', description: messageOf(error) };
  const isFromSite = error instanceof ConsoleError && error.code === 'unavailable';
  return {
    title: isFromSite ? 'The database did not confirm the change' : 'The site cannot be reached',
    description: 'If the change was made, it is in the audit log.',
  };
}

/**
 * Creates the query client. When the operator returns to the tab, data older than 10 s is refetched. After a failed
 * refetch, a query has both an error and its previous data, and screens must still show the data.
 */
export function createConsoleClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // While the browser is offline, requests fail with a message. The default mode would make them wait silently.
        networkMode: 'always',
        // Explicit, because `networkMode: 'always'` turns it off by default.
        refetchOnReconnect: true,
        refetchOnWindowFocus: true,
        // Retries requests that failed with an unknown outcome or with status 503, but not those that timed out.
        retry: (failures, error) =>
          failures < 2 &&
          error instanceof ConsoleError &&
          !hasTimedOut(error) &&
          [...UNKNOWN_OUTCOMES, 503].includes(error.status),
      },
      mutations: { networkMode: 'always' },
    },
  });
}

/**
 * The keys of all queries. The first part of a key is the subject, by which operations and live updates select what to
 * refetch.
 */
export const consoleKeys = {
  session: ['session'],
  overview: ['overview'],
  waiting: ['waiting'],
  doctor: ['doctor'],
  categories: ['categories'],
  /** The prefix of the keys of a subject's queries. */
  subject: (subject: string) => [subject],
  page: (subject: string, path: string, filter: object, cursor: string) => [subject, path, filter, cursor],
  product: (id: string) => ['product', id],
  foundProducts: (term: string) => ['products', 'palette', term],
  /**
   * Not part of the subject `votes`, because votes that arrive while an operator decides must not be added to the list.
   */
  votesToDecide: (productId: string, hour: string) => ['votes to decide', productId, hour],
  invitation: (token: string) => ['invitation', token],
} as const;

export function useOverview() {
  return useQuery({
    queryKey: consoleKeys.overview,
    queryFn: ({ signal }) => call<OverviewRecord>(CONSOLE_API.overview, { signal }),
    // The server caches the activity for a minute, so a refetch after a live update may return activity from before the
    // update.
    refetchInterval: 60_000,
  });
}

/** Loads the numbers of items that need a decision. */
export function useWaiting() {
  return useQuery({
    queryKey: consoleKeys.waiting,
    queryFn: ({ signal }) => call<WaitingRecord>(CONSOLE_API.waiting, { signal }),
  });
}

/** Formats the sum of numbers of waiting items: '12', or '1,000+' if one of them stopped at the maximum. */
export function formatWaiting(...counts: readonly number[]): string {
  const sum = counts.reduce((total, count) => total + count, 0);
  return formatCount(sum) + (counts.some((count) => count >= MAX_WAITING) ? '+' : '');
}

/**
 * Sets the session of this tab, or `null` after sign-out. Removes all other data from the cache, because it may have
 * been loaded by another operator.
 */
export function switchSession(client: QueryClient, session: ConsoleSession | null): void {
  shownOperator = session?.operator;
  client.setQueryData(consoleKeys.session, session);
  client.removeQueries({ predicate: ({ queryKey: [subject] }) => subject !== consoleKeys.session[0] });
}
