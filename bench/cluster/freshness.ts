import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection, type HttpResponse, requestText } from '../harness/http-connection.ts';
import { requireSuccess, runLoad, type Target } from '../harness/run-load.ts';
import { quantile } from '../harness/statistics.ts';
import type { Side } from './side.ts';

/** Percentiles of the time since the upvote was sent, in milliseconds. */
export interface Delays {
  p50Ms: number;
  p95Ms: number;
  maxMs: number;
}

/**
 * The delays from an upvote on one site until its own response, and until the other site's API, page and stream show
 * it.
 */
export interface Freshness {
  samples: number;
  write: Delays;
  api: Delays;
  page: Delays;
  stream: Delays;
}

export interface FreshnessOptions {
  seconds: number;
  /** The rate of other upvotes on the same site, on other products. */
  upvotesPerSecond: number;
  products: number;
}

const POLL_INTERVAL_MS = 5;
const VISIBLE_TIMEOUT_MS = 10_000;
/**
 * The upvotes are separated by random pauses of up to this length, so they fall at any point of the site's polling
 * interval.
 */
const MAX_PAUSE_MS = 250;

/**
 * Upvotes products on the first site of a side. After each upvote, waits until the second site's API, page and stream
 * show it.
 * @throws Error if an upvote does not appear in time.
 */
export async function measureFreshness(side: Side, options: FreshnessOptions): Promise<Freshness> {
  const [here = '', there = ''] = side.addresses;
  const stream = await listenToCounts(there);
  const [writer, api, page] = [here, there, there].map((address) => new HttpConnection(address)) as [
    HttpConnection,
    HttpConnection,
    HttpConnection,
  ];
  const others = otherUpvotes(side, here, options);
  const seen: Record<keyof Omit<Freshness, 'samples'>, number[]> = { write: [], api: [], page: [], stream: [] };
  const end = performance.now() + options.seconds * 1_000;
  for (let sample = 0; performance.now() < end; sample += 1) {
    const id = `p-${sample % (options.products / 2)}`;
    const apiRequest = requestText('GET', `/api/products/${id}`, 'session-of-a-reader');
    const pageRequest = requestText('GET', `/product/${id}`, 'session-of-a-reader');
    // These requests fill the cache, so only the upvote can cause a newer response.
    const before = upvotesIn(await api.send(apiRequest));
    await page.send(pageRequest);
    const sentAt = performance.now();
    const shown = (connection: HttpConnection, request: string) =>
      pollUntil(async () => upvotesIn(await connection.send(request)) > before).then((at) => at - sentAt);
    const [response, apiMs, pageMs, streamAt] = await Promise.all([
      writer.send(requestText('PUT', `/api/products/${id}/upvote`, `session-${randomUUID()}`)).then((given) => {
        if (given.status !== 200) throw new Error(`An upvote failed with status ${given.status}`);
        side.upvotes += 1;
        return performance.now() - sentAt;
      }),
      shown(api, apiRequest),
      shown(page, pageRequest),
      stream.waitForUpvotes(id, before + 1, VISIBLE_TIMEOUT_MS),
    ]);
    seen.write.push(response);
    seen.api.push(apiMs);
    seen.page.push(pageMs);
    seen.stream.push(streamAt - sentAt);
    await sleep(Math.random() * MAX_PAUSE_MS);
  }
  for (const each of [writer, api, page, stream]) each.close();
  await others;
  return {
    samples: seen.api.length,
    write: delaysOf(seen.write),
    api: delaysOf(seen.api),
    page: delaysOf(seen.page),
    stream: delaysOf(seen.stream),
  };
}

/** Upvotes products in the second half of the list, because the measurement uses those in the first half. */
async function otherUpvotes(side: Side, address: string, options: FreshnessOptions): Promise<void> {
  const { seconds, upvotesPerSecond, products } = options;
  if (upvotesPerSecond === 0) return;
  const half = Math.floor(products / 2);
  const targets = Array.from({ length: half }, (_, index): Target => {
    return { method: 'PUT', path: `/api/products/p-${half + index}/upvote` };
  });
  const result = await runLoad({ address, connections: 20, seconds, targets, maxPerSecond: upvotesPerSecond });
  side.upvotes += requireSuccess(result).succeeded;
}

/** Reads the count from a JSON response of the API or from the same JSON, escaped, in a page's initial state. */
function upvotesIn({ status, body }: HttpResponse): number {
  const found = /\\?"upvotes\\?":(\d+)/.exec(body)?.[1];
  if (status !== 200 || found === undefined) throw new Error(`The response with status ${status} has no count`);
  return Number(found);
}

/** Polls until a condition is true. @returns the time at which it became true. */
async function pollUntil(condition: () => Promise<boolean>): Promise<number> {
  const deadline = performance.now() + VISIBLE_TIMEOUT_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`The upvote was not shown within ${VISIBLE_TIMEOUT_MS} ms`);
    await sleep(POLL_INTERVAL_MS);
  }
  return performance.now();
}

function delaysOf(delays: readonly number[]): Delays {
  const sorted = delays.toSorted((one, other) => one - other);
  const rounded = (share: number) => Math.round(quantile(sorted, share) * 10) / 10;
  return { p50Ms: rounded(0.5), p95Ms: rounded(0.95), maxMs: rounded(1) };
}

interface CountStream {
  /** Waits until this upvote count of a product, or a higher one, has arrived. @returns the time of its arrival. */
  waitForUpvotes(productId: string, upvotes: number, timeoutMs: number): Promise<number>;
  close(): void;
}

/** Opens the stream of all counts and records when each count arrives. */
async function listenToCounts(address: string): Promise<CountStream> {
  const { hostname, port } = new URL(address);
  const socket = connect({ host: hostname, port: Number(port) }).setEncoding('latin1');
  const received = new Map<string, { upvotes: number; at: number }[]>();
  let rest = '';
  socket.on('data', (text: unknown) => {
    const at = performance.now();
    const blocks = (rest + String(text)).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      if (!block.startsWith('event: counts\n')) continue;
      const counts = JSON.parse(/\ndata: (.*)/.exec(block)?.[1] ?? '[]') as { id: string; upvotes: number }[];
      for (const { id, upvotes } of counts) received.set(id, [...(received.get(id) ?? []), { upvotes, at }]);
    }
  });
  socket.write('GET /api/events HTTP/1.1\r\nHost: bench\r\n\r\n');
  await once(socket, 'data');
  return {
    async waitForUpvotes(productId, upvotes, timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const found = received.get(productId)?.find((each) => each.upvotes >= upvotes);
        if (found !== undefined) return found.at;
        if (performance.now() > deadline)
          throw new Error(`The stream did not show ${upvotes} upvotes of ${productId} in time`);
        await sleep(1);
      }
    },
    close: () => socket.destroy(),
  };
}
