import type { FastifyInstance } from 'fastify';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { WriteKind } from '../../core/core.ts';
import type { GroupCommitObserver } from '../../core/group-commit.ts';
import type { RepeatObserver } from '../cache/repeat-answers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether its answers go on for as long as the client stays. */
    isStream?: boolean;
  }
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

/** Counts and times requests: those to routes that are registered after `watchRequests`, and those that reach no route. */
export function countRequestsIn(registers: Registry[]): {
  watchRequests(app: FastifyInstance): void;
  observeRepeat: RepeatObserver;
} {
  const requests = new Counter({
    name: 'groundswell_http_requests_total',
    help: 'Requests that were answered',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'groundswell_http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer',
    labelNames: ['method', 'route'],
    buckets: SECONDS,
    registers,
  });
  /** By the pattern of the route, never the path: that is the visitor's. */
  function count(method: string, route: string | undefined, status: number): { method: string; route: string } {
    const labels = { method, route: route ?? 'none' };
    requests.inc({ ...labels, status });
    return labels;
  }

  return {
    watchRequests(app) {
      app.addHook('onResponse', (request, reply, done) => {
        const labels = count(request.method, request.routeOptions.url, reply.statusCode);
        // A stream takes as long as its page is open: that says nothing of the server.
        if (!request.routeOptions.config.isStream) durations.observe(labels, reply.elapsedTime / 1_000);
        done();
      });
    },
    observeRepeat: ({ route, seconds }) => durations.observe(count('GET', route, 200), seconds),
  };
}

/** Counts, by kind, what happens to writes. */
export function observeWritesIn(registers: Registry[]): (kind: WriteKind) => GroupCommitObserver {
  const outcomes = new Counter({
    name: 'groundswell_write_transactions_total',
    help: 'Transactions of writes: committed, retried because two met crosswise, failed',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const refused = new Counter({
    name: 'groundswell_writes_refused_total',
    help: 'Writes that found the queue full and were answered with 503',
    labelNames: ['kind'],
    registers,
  });
  const sizes = new Histogram({
    name: 'groundswell_write_batch_size',
    help: 'Writes that shared a transaction',
    labelNames: ['kind'],
    buckets: BATCH_SIZES,
    registers,
  });
  const durations = new Histogram({
    name: 'groundswell_write_transaction_duration_seconds',
    help: 'Time of a transaction of writes, its wait for a connection included',
    labelNames: ['kind'],
    buckets: SECONDS,
    registers,
  });
  return (kind) => ({
    committed(items, seconds) {
      outcomes.inc({ kind, outcome: 'committed' });
      sizes.observe({ kind }, items);
      durations.observe({ kind }, seconds);
    },
    retried: () => outcomes.inc({ kind, outcome: 'retried' }),
    failed: () => outcomes.inc({ kind, outcome: 'failed' }),
    refused: () => refused.inc({ kind }),
  });
}
