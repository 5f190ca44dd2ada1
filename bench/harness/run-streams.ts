import { join } from 'node:path';
import { messageOf, startChild } from './run-load.ts';
import type { Latencies } from './statistics.ts';

export interface StreamLoad {
  address: string;
  streams: number;
  /** The subscriptions, assigned to the streams in rotation. `null` subscribes to all counts. */
  subscriptions: readonly (readonly string[] | null)[];
  /** Number of products to upvote, with the ids `p-0`, `p-1` and so on. */
  products: number;
  upvotesPerSecond: number;
  seconds: number;
}

export interface StreamReport {
  /** Number of deliveries: one for each upvote and each stream that received it. */
  deliveries: number;
  /** Number of deliveries if each stream received all upvotes of the products to which it subscribes. */
  expected: number;
  /** Number of streams that closed before the end. */
  closed: number;
  latency: Latencies;
  /** The last received number of upvotes by product, for each subscription. */
  finalCounts: Record<string, number>[];
}

export interface StreamRun {
  /** Sends upvotes at the rate of the options. @returns the deliveries and their latencies. */
  vote(): Promise<StreamReport>;
  end(): void;
}

/** Opens the streams in a separate process, and waits until all are open. */
export async function openStreams(load: StreamLoad): Promise<StreamRun> {
  const child = startChild(join(import.meta.dirname, 'stream-clients.ts'), load);
  await messageOf(child);
  return {
    vote() {
      child.send('vote');
      return messageOf(child);
    },
    end: () => child.kill(),
  };
}
