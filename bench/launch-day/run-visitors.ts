import { join } from 'node:path';
import { type FlowResult, runInChild } from '../harness/run-load.ts';
import type { Catalogue, Phase } from './visits.ts';

export interface VisitorLoad {
  address: string;
  phases: readonly Phase[];
  catalogue: Catalogue;
  seed: number;
  /** Requests due before are sent, but not measured. */
  warmUpSeconds?: number;
}

/** The writes that the site has acknowledged, and so must have. */
export interface Acknowledged {
  upvotes: { productId: string; session: string }[];
  commentIds: string[];
}

export interface VisitorReport {
  visitors: number;
  actions: Record<string, FlowResult>;
  /** All pages, by the phase in which the visitor arrived. */
  pages: Record<string, FlowResult>;
  /** Streams that were open at the same time, and those that the site ended. */
  mostStreams: number;
  brokenStreams: number;
  acknowledged: Acknowledged;
}

/** Visitors who arrive, act when their actions are due, and leave, from a separate process. */
export function runVisitors(load: VisitorLoad): Promise<VisitorReport> {
  return runInChild(join(import.meta.dirname, 'visitors.ts'), load);
}
