import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Latencies } from './statistics.ts';

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
  /** The requests to send, in rotation, each with a new session. */
  targets: readonly Target[];
  /** Source address of the requests. Default: 127.0.0.1. */
  localAddress?: string;
  /** Gives each connection its own source address in 127.1.0.0/16, because votes are capped per address. */
  isSpread?: boolean;
  /** Maximum number of requests per second. Default: unlimited. */
  maxPerSecond?: number;
}

export interface LoadResult {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Number of 2xx responses, including those during the warm-up. */
  succeeded: number;
  sent: number;
  statuses: Record<string, number>;
}

/**
 * Closed loop: each connection sends its next request after the previous response has arrived. A slow server gets fewer
 * requests, so slow responses are under-represented. `runOpenLoad` does not have this bias.
 */
export function runLoad(options: LoadOptions): Promise<LoadResult> {
  return runInChild(join(import.meta.dirname, 'load.ts'), options);
}

export interface OpenLoadOptions {
  address: string;
  seconds: number;
  /** Flows of requests by name, each with its own rate. */
  flows: Readonly<Record<string, Flow>>;
}

export interface Flow {
  targets: readonly Target[];
  perSecond: number;
}

/** The results of a flow, with the latencies of its requests, each from the due time to the end of the response. */
export interface FlowResult extends Latencies {
  /** Number of requests that were due in the measured time. Each is sent, regardless of earlier responses. */
  due: number;
  succeeded: number;
  statuses: Record<string, number>;
}

/**
 * Open loop: requests are sent when they are due, even if responses are slow, like requests of independent visitors.
 */
export function runOpenLoad(options: OpenLoadOptions): Promise<Record<string, FlowResult>> {
  return runInChild(join(import.meta.dirname, 'open-load.ts'), options);
}

/** Runs a load program, whose only message is its result. */
export function runInChild<Result>(program: string, options: object): Promise<Result> {
  return messageOf(startChild(program, options));
}

/** Starts a load program in a separate process, so it does not share an event loop with the caller. */
export function startChild(program: string, options: object): ChildProcess {
  const child = fork(program, { execArgv: ['--import', 'tsx'] });
  child.send(options);
  return child;
}

/** Waits for the next message of a load program. @throws Error if the program exits instead. */
export async function messageOf<Message>(child: ChildProcess): Promise<Message> {
  const failed = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`${child.spawnargs.at(-1)} exited with code ${code}`)),
  );
  failed.catch(() => {});
  const [message] = await Promise.race([once(child, 'message'), failed]);
  return message as Message;
}

/** Returns the result. @throws Error if a request failed. */
export function requireSuccess(result: LoadResult): LoadResult {
  if (result.succeeded !== result.sent) throw new Error(`Some requests failed: ${JSON.stringify(result.statuses)}`);
  return result;
}
