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
  /** Asked in turn, each time by another session. */
  targets: readonly Target[];
  /** Whence the requests come; by default from 127.0.0.1. */
  localAddress?: string;
  /** At most so many requests a second; by default as many as are answered. */
  maxPerSecond?: number;
}

export interface LoadResult {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers of 2xx, in the warm-up too. */
  succeeded: number;
  asked: number;
  statuses: Record<string, number>;
}

/** Loads a server from a process of its own. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const child = fork(join(import.meta.dirname, 'load.ts'), { execArgv: ['--import', 'tsx'] });
  child.send(options);
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The load ended with code ${code}`)));
  const [result] = await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => {});
  return result as LoadResult;
}
