import type { Comment } from '../comments/schema.ts';
import type { PeriodKind } from '../leaderboards/period.ts';
import type { ExclusionReason } from '../leaderboards/schema.ts';
import type { ProductFieldName } from '../products/fields.ts';
import type { Product } from '../products/schema.ts';
import type { SubmissionStatus } from '../submissions/schema.ts';

/** One page of a list in the console. `nextCursor` is null on the last page. */
export interface ConsolePage<Item> {
  items: Item[];
  nextCursor: string | null;
}

/** The maximum number of products, comments or removals that one request may name by id. */
export const MAX_ITEMS_PER_REQUEST = 200;

/** The maximum number of Unicode code points of an operator's reason. */
export const MAX_REASON_CHARACTERS = 1_000;

/**
 * A kind of data that open console pages must refetch. The `change` event of the console's stream contains a list of
 * kinds.
 */
export type LiveSubject = 'audit' | 'queue' | 'products' | 'comments' | 'counts';

/** An entry of the audit log. */
export interface AuditRecord {
  id: string;
  createdAt: string;
  operator: string;
  action: string;
  target: string;
  /** What the operator did: the rest of a sentence that begins with the operator's name. */
  sentence: string;
  details: object;
  /** The ids of the entry that this one undid, and of the entry that undid this one; null if there is none. */
  undoes: string | null;
  undoneBy: string | null;
  undoable: boolean;
}

/** The result of an undo: what the undo of an import left unchanged, or null if the undo was complete. */
export interface UndoResult {
  note: string | null;
}

/** A comment with the name of its product. */
export interface ConsoleComment extends Comment {
  productName: string;
  held: boolean;
  /** When the comment was hidden (ISO 8601, UTC), and the operator's reason; null if it is not hidden. */
  hidden: { since: string; reason: string | null } | null;
}

export type CommentAction = 'hide' | 'restore' | 'hold' | 'release';

export interface ModerationResult {
  done: string[];
  /** The ids of the changes' entries in the audit log. */
  auditIds: string[];
  /** The ids that are unknown or were already in the new state, for example because another operator was faster. */
  skipped: string[];
}

/** A product with the version that an edit must send, so conflicting edits are detected. */
export interface ProductDetails {
  product: Product;
  version: string;
  heldComments: number;
  hiddenComments: number;
}

/** The result of an edit. `auditId` is the id of its entry in the audit log, or null if no value changed. */
export interface EditedProduct extends Pick<ProductDetails, 'product' | 'version'> {
  auditId: string | null;
}

/** A removal that can be undone, with the numbers of the product's upvotes and public comments. */
export interface RemovedProductRecord {
  id: string;
  name: string;
  upvotes: number;
  comments: number;
  removalId: string;
  /** ISO 8601, UTC. */
  removedAt: string;
  /** The operator's reason; null if none was given. */
  reason: string | null;
}

/** The maximum number of listed removals. The newest come first. */
export const MAX_LISTED_REMOVALS = 500;

export interface RemovalResult {
  removed: Omit<RemovedProductRecord, 'removedAt' | 'reason'>[];
  /** The ids that no product has, for example because another operator was faster. */
  skipped: string[];
}

/** A burst of upvotes: many sessions from one network upvoted one product within a clock hour. */
export interface BurstRecord {
  /** The start of the hour, ISO 8601, UTC. */
  hour: string;
  productId: string;
  productName: string;
  /** A hash of the network with a random salt, which is replaced every hour, so the network cannot be determined. */
  network: string;
  sessions: number;
  /** The number of the product's votes in the whole launch window, not only this hour, that operators have excluded. */
  excluded: number;
}

/** The maximum number of listed bursts. The largest come first. */
export const MAX_LISTED_BURSTS = 100;

/** The maximum number of votes in a `VoteList`. */
export const MAX_LISTED_VOTES = 1_000;

/**
 * A vote with the properties of its line in the tally, except the product. `at` is ISO 8601 in UTC. In votes read from
 * a stored tally, it has a precision of seconds.
 */
export interface TallyLine {
  voter: string;
  at: string;
  counted: boolean;
  reason: ExclusionReason | null;
}

/** At most `MAX_LISTED_VOTES` votes of a launch, in the order of its tally. */
export interface VoteList {
  /** The day of the launch. */
  day: string;
  votes: TallyLine[];
}

/** The activity in an hour or a day (UTC). */
export interface ActivityRecord {
  /** The start of the day (`2026-11-22`) or of the hour (`2026-11-22T09:00:00.000Z`). */
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

/** The server stops counting the items of each kind in a `WaitingRecord` at this number. */
export const MAX_WAITING = 1_000;

/** The numbers of items that wait for an operator's decision. `MAX_WAITING` means at least that many. */
export interface WaitingRecord {
  heldComments: number;
  bursts: number;
  submissions: number;
}

/** The server counts up to this many products exactly, and estimates larger numbers. */
export const MAX_COUNTED_PRODUCTS = 10_000;

export interface OverviewRecord {
  /** Activity by day and by hour, oldest first. The last day and the last hour are the current ones. */
  days: ActivityRecord[];
  hours: ActivityRecord[];
  boards: { kind: PeriodKind; period: string; rows: BoardRow[] }[];
  waiting: WaitingRecord;
  lastBackupAt: string | null;
  /** Whether backups are scheduled, that is, whether `BACKUP_DIR` is set. */
  backupsScheduled: boolean;
  /** `products` is an estimate if it is above `MAX_COUNTED_PRODUCTS`. */
  database: { bytes: number; products: number };
}

/** The result of one check by `groundswell doctor`. */
export interface Finding {
  /** The checked subject, in a word or two. */
  check: string;
  /** `warning`: the subject works but needs attention. `failed`: it does not work, or will soon stop working. */
  status: 'ok' | 'warning' | 'failed';
  /** The finding, in one line without secrets. */
  message: string;
  /** What the operator should do; absent if the check passed. */
  advice?: string;
}

/** A submission as an operator sees it. */
export interface SubmissionRecord {
  id: string;
  status: SubmissionStatus;
  revision: number;
  suspectedSpam: boolean;
  reason: string | null;
  /** The time of the launch (ISO 8601, UTC), or `null` if approval launches the product immediately. */
  launchAt: string | null;
  /** The product as it would launch or, if it exists, as it is on the site. */
  product: Product;
  /** The last approved version, if the submission was approved before but is not now; otherwise `null`. */
  approvedProduct: Product | null;
  createdAt: string;
  updatedAt: string;
  waitingSince: string;
  decidedAt: string | null;
  /** Whether the last decision can be undone. */
  canUndo: boolean;
}

/** A submission after a decision, and the id of the decision's entry in the audit log. */
export interface DecidedSubmission {
  submission: SubmissionRecord;
  auditId: string;
}

/**
 * An error in an import. If `field` is null, the error is not in one field, but in the whole row or in the file at
 * `line`.
 */
export interface ImportErrorRecord {
  line: number;
  /** In a JSON array, the number of the item, starting at 1. */
  item?: number | undefined;
  field: string | null;
  reason: string;
}

/** The result of an import or a dry run: total counts, and the first 100 created, updated and repeated rows. */
export interface ImportSummary {
  /** The id of the import's entry in the audit log; null after a dry run, or if nothing changed. */
  auditId: string | null;
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
  /** The number of rows that are ignored because a later row has the same id. */
  repeatedIds: number;
  firstRepeated: { line: number; item?: number | undefined; id: string }[];
  /** The number of pictures given as file names, which only `groundswell import` can import. */
  localPictures: number;
  ignoredColumns: string[];
}

/** A line of the response to an import, as a JSON object. The last line is `done`, `errors` or `failed`. */
export type ImportEvent =
  /** `done` counts checked bytes in the stage `check`, and processed rows in the stage `write`. */
  | { kind: 'progress'; stage: 'check' | 'write'; done: number }
  | { kind: 'done'; summary: ImportSummary }
  | { kind: 'errors'; errors: ImportErrorRecord[]; count: number }
  | { kind: 'failed'; message: string };

/** The maximum time between two lines of the response to an import. */
export const IMPORT_HEARTBEAT_MS = 10_000;

/** How long an import may take to arrive. At 44 kB/s, the minimum rate of other bodies, 64 MiB take 26 minutes. */
export const IMPORT_TIMEOUT_MS = 30 * 60_000;

/** Maximum size of files for imports in the console. Larger files need `groundswell import`. */
export const MAX_IMPORT_BYTES = 64 * 1024 * 1024;
export const IMPORT_TOO_LARGE = 'The file is larger than 64 MiB. Use `groundswell import` on the server.';

/**
 * The length of a passphrase in Unicode code points. The only purpose of the maximum is to limit the size of requests.
 */
export const PASSPHRASE_CHARACTERS = { min: 12, max: 1_000 } as const;

/** The name of an operator. Upper case is not allowed, so two names cannot differ only in case. */
const OPERATOR_NAME = /^[a-z0-9][a-z0-9._-]{0,31}$/;

export function isOperatorName(text: string): boolean {
  return OPERATOR_NAME.test(text);
}
