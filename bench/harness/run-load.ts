import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface Target {
  method: 'GET' | 'PUT' | 'POST';
  path: string;
  body?: string;
  acceptEncoding?: string;
}

export interface LoadOptions {
  address: string;
  connections: number;
  seconds: number;
  /** The requests, which are sent in turn, each by another session. */
  targets: readonly Target[];
  /** Source address of the requests; 127.0.0.1 by default. */
  localAddress?: string;
  /** Gives each connection another source address, and so another network, of 127.1.0.0/16. */
  isSpread?: boolean;
  /** Upper bound of requests per second; unlimited by default. */
  maxPerSecond?: number;
}

export interface LoadResult {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** 2xx responses, including those of the warm-up. */
  succeeded: number;
  sent: number;
  statuses: Record<string, number>;
}

/**
 * Closed loop: each connection sends its next request once the last response has arrived. A slow server gets fewer
 * requests, so its slowest moments are undercounted; `runOpenLoad` has no such bias.
 */
export function runLoad(options: LoadOptions): Promise<LoadResult> {
  return runInChild(join(import.meta.dirname, 'load.ts'), options);
}

export interface OpenLoadOptions {
  address: string;
  seconds: number;
  /** Flows of requests by name, each at its own pace. */
  flows: Readonly<Record<string, Flow>>;
}

export interface Flow {
  targets: readonly Target[];
  perSecond: number;
}

export interface FlowResult {
  /** Requests that were due in the measured time; each was sent, regardless of earlier responses. */
  due: number;
  succeeded: number;
  statuses: Record<string, number>;
  /** The time from the moment a request was due to the end of its response. */
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  maxMs: number;
}

/**
 * Open loop: requests are sent when they are due, however slow the responses are, like requests of independent
 * visitors.
 */
export function runOpenLoad(options: OpenLoadOptions): Promise<Record<string, FlowResult>> {
  return runInChild(join(import.meta.dirname, 'open-load.ts'), options);
}

/** Runs a load in a separate process, so it never competes with the caller for an event loop. */
export async function runInChild<Result>(program: string, options: object): Promise<Result> {
  const child = fork(program, { execArgv: ['--import', 'tsx'] });
  child.send(options);
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${program} ended with code ${code}`)));
  const [result] = await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => {});
  return result as Result;
}
