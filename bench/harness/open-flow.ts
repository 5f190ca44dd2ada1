import { setTimeout as sleep } from 'node:timers/promises';
import type { FlowResult } from './run-load.ts';
import { latenciesOf } from './statistics.ts';

/**
 * Calls `send` for each request when it is due, even if earlier requests are in flight, then waits for all of them.
 * Requests must be sorted by `dueAt`, which is a value of `performance.now()`.
 */
export async function sendWhenDue<Request extends { dueAt: number }>(
  requests: Iterable<Request>,
  send: (request: Request) => Promise<void>,
): Promise<void> {
  const inFlight: Promise<void>[] = [];
  for (const request of requests) {
    const waitMs = request.dueAt - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    inFlight.push(send(request));
  }
  await Promise.all(inFlight);
}

/** Records the latencies of a flow's requests, each from its due time to the end of its response. */
export class FlowRecorder {
  readonly #latenciesMs: number[] = [];
  readonly #statuses: Record<string, number> = {};

  /** Must be called at the end of a response. `status` is its code, or an error message if there was no response. */
  record(dueAt: number, status: number | string): void {
    this.#latenciesMs.push(performance.now() - dueAt);
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
  }

  result(): FlowResult {
    const succeeded = Object.entries(this.#statuses).reduce(
      (sum, [status, count]) => sum + (/^2\d\d$/.test(status) ? count : 0),
      0,
    );
    return { due: this.#latenciesMs.length, succeeded, statuses: this.#statuses, ...latenciesOf(this.#latenciesMs) };
  }
}
