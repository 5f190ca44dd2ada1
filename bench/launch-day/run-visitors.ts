import { join } from 'node:path';
import { type FlowResult, runInChild } from '../harness/run-load.ts';
import type { Catalogue, Phase } from './visits.ts';

export interface VisitorLoad {
  address: string;
  phases: readonly Phase[];
  catalogue: Catalogue;
  seed: number;
  /** Requests that are due during the warm-up are sent but not measured. */
  warmUpSeconds?: number;
}

/** The writes that the site has acknowledged, and therefore must not lose. */
export interface Acknowledged {
  upvotes: { productId: string; session: string }[];
  commentIds: string[];
}

export interface VisitorReport {
  visitors: number;
  actions: Record<string, FlowResult>;
  /** The results of all page requests, by the phase in which the visitor arrived. */
  pages: Record<string, FlowResult>;
  /** The highest number of concurrent streams. */
  maxStreams: number;
  /** The number of streams that the site closed. */
  brokenStreams: number;
  acknowledged: Acknowledged;
}

/** Simulates visitors, who arrive, act at planned times and leave, in a separate process. */
export function runVisitors(load: VisitorLoad): Promise<VisitorReport> {
  return runInChild(join(import.meta.dirname, 'visitors.ts'), load);
}
