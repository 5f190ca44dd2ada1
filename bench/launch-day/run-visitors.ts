import { join } from 'node:path';
import { type FlowResult, runInChild } from '../harness/run-load.ts';
import type { Catalogue, Phase } from './visits.ts';

export interface VisitorLoad {
  address: string;
  phases: readonly Phase[];
  catalogue: Catalogue;
  seed: number;
  /** Requests that are due in this time are sent, but not measured. */
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
  /** The most streams that were open at the same time; `brokenStreams` is the number that the site ended. */
  mostStreams: number;
  brokenStreams: number;
  acknowledged: Acknowledged;
}

/** Runs visitors, who arrive, act when their actions are due, and leave, in a separate process. */
export function runVisitors(load: VisitorLoad): Promise<VisitorReport> {
  return runInChild(join(import.meta.dirname, 'visitors.ts'), load);
}
