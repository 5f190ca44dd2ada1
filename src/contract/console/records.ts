import type { Comment } from '../comments/schema.ts';
import type { ExclusionReason } from '../leaderboards/schema.ts';
import type { ProductFieldName } from '../products/fields.ts';
import type { Product } from '../products/schema.ts';
import type { SubmissionStatus } from '../submissions/schema.ts';

/** A page of any list of the console; `nextCursor` is null on the last one. */
export interface ConsolePage<Item> {
  items: Item[];
  nextCursor: string | null;
}

/** Products or comments that one request may change. */
export const MAX_AT_ONCE = 200;

/** The data that an operator's page must refetch: an event `change` carries a list of these. */
export type LiveSubject = 'audit' | 'queue' | 'products' | 'comments' | 'counts';

/** An entry of the audit log. */
export interface AuditRecord {
  id: string;
  createdAt: string;
  operator: string;
  action: string;
  target: string;
  /** The rest of a sentence that begins with the operator. */
  sentence: string;
  details: object;
  undoes: string | null;
  undoneBy: string | null;
  undoable: boolean;
}

/** A comment with the name of its product. */
export interface ConsoleComment extends Comment {
  productName: string;
  held: boolean;
  hidden: { since: string; reason: string | null } | null;
}

export type CommentAction = 'hide' | 'restore' | 'hold' | 'release';

/** The inverse of each operation on comments. */
export const INVERSE_ACTIONS: Readonly<Record<CommentAction, CommentAction>> = {
  hide: 'restore',
  restore: 'hide',
  hold: 'release',
  release: 'hold',
};

export interface ModerationResult {
  done: string[];
  /** Those that were not in the state before it, such as when another operator was faster. */
  skipped: string[];
}

/** A product, and the version to name when it is edited. */
export interface ProductDetails {
  product: Product;
  version: string;
  heldComments: number;
  hiddenComments: number;
}

export interface RemovedProductRecord {
  id: string;
  name: string;
  upvotes: number;
  comments: number;
  removalId: string;
  removedAt: string;
}

/** Many sessions of one network that upvoted one product within an hour. */
export interface BurstRecord {
  hour: string;
  productId: string;
  productName: string;
  network: string;
  sessions: number;
}

/** Votes of a launch in the order of its tally, at most the first thousand. */
export interface VoteList {
  /** The day of the launch. */
  day: string;
  votes: { voter: string; at: string; counted: boolean; reason: ExclusionReason | null }[];
}

/** The activity of an hour or a day, UTC. */
export interface ActivityRecord {
  /** When it began: `2026-11-22` or `2026-11-22T09:00:00.000Z`. */
  from: string;
  launches: number;
  upvotes: number;
  comments: number;
}

interface BoardRow {
  productId: string;
  name: string;
  rank: number;
  votes: number;
}

/** How much waits for a decision. */
export interface WaitingRecord {
  heldComments: number;
  bursts: number;
  submissions: number;
}

export interface OverviewRecord {
  days: ActivityRecord[];
  hours: ActivityRecord[];
  boards: { kind: 'day' | 'week' | 'month'; period: string; rows: BoardRow[] }[];
  waiting: WaitingRecord;
  lastBackupAt: string | null;
  database: { bytes: number; products: number };
}

export interface FindingRecord {
  check: string;
  status: 'ok' | 'warning' | 'fault';
  message: string;
  advice?: string | undefined;
}

/** A submission as an operator sees it. */
export interface SubmissionRecord {
  id: string;
  status: SubmissionStatus;
  revision: number;
  suspectedSpam: boolean;
  reason: string | null;
  /** ISO 8601, UTC; `null`: as soon as it is approved. */
  launchAt: string | null;
  /** The product as it would launch, or as it launched. */
  product: Product;
  /** The approved version, if its maker has edited the product since; otherwise `null`. */
  approvedProduct: Product | null;
  createdAt: string;
  updatedAt: string;
  waitingSince: string;
  decidedAt: string | null;
  /** Whether the last decision can be undone. */
  canUndo: boolean;
}

/** The fault of one field of one row, or (`field` is null) of the row or the file at that position. */
export interface ImportFaultRecord {
  line: number;
  /** In a JSON array, its number among the items, from 1. */
  item?: number | undefined;
  field: string | null;
  reason: string;
}

/** The result of an import or a dry run: counts of all, and the first hundred of each kind. */
export interface ImportSummary {
  created: number;
  updated: number;
  unchanged: number;
  firstCreated: { line: number; item?: number | undefined; id: string; name: string }[];
  firstUpdated: {
    line: number;
    item?: number | undefined;
    id: string;
    changes: { field: ProductFieldName; before: unknown; after: unknown }[];
  }[];
  duplicates: number;
  ignoredColumns: string[];
}

/** The lines of the response to an import, one JSON object each; the last one is not progress. */
export type ImportEvent =
  /** Bytes checked, or rows written. */
  | { kind: 'progress'; stage: 'check' | 'write'; done: number }
  | { kind: 'done'; summary: ImportSummary }
  | { kind: 'faults'; faults: ImportFaultRecord[]; count: number }
  | { kind: 'failed'; message: string };

/** The largest file that the console imports; larger ones need `groundswell import`. */
export const MAX_IMPORT_BYTES = 64 * 1024 * 1024;
