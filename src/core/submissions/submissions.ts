import { LRUCache } from 'lru-cache';
import { COMMENT_DEFAULTS } from '../../contract/comments/defaults.ts';
import type { HourlyVotes, Standings } from '../../contract/leaderboards/schema.ts';
import { MAKER_BADGE } from '../../contract/submissions/limits.ts';
import type { NewSubmission, Submission, SubmissionPatch } from '../../contract/submissions/schema.ts';
import type { CommentAuthor } from '../comments/prepare-comment.ts';
import type { Database } from '../database/database.ts';
import { readBeforeCommit } from '../database/transactions.ts';
import { readVotesByHour } from '../leaderboards/read-votes-by-hour.ts';
import type { Runtime } from '../runtime.ts';
import { addWithSpamCheck, type Repetition } from '../spam.ts';
import type { RecordEvents } from '../webhooks/outbox.ts';
import {
  addScreenshot,
  editSubmission,
  type MakerAccess,
  removeScreenshot,
  requireEditable,
  requireScreenshotCapacity,
  type SubmissionVersion,
  setImage,
  withdrawSubmission,
} from './change-submission.ts';
import { createSubmission, type Submitter } from './create-submission.ts';
import { launchRules } from './launch-product.ts';
import { describeSubmission, readApprovedProducts } from './read-submission.ts';
import { checkKey, readSubmissionRow, requireMakerKey, type SubmissionRow } from './submission-row.ts';

/** The operations of makers. The functions that implement them document their `CoreError`s. */
export interface Submissions {
  /** Creates a submission. Suspected spam is also accepted, but comes last in the queue. */
  create(
    sent: NewSubmission,
    submitter: Submitter,
    repetition?: Repetition,
  ): Promise<{ submission: Submission; makerKey: string; created: boolean }>;
  get(access: MakerAccess): Promise<Submission>;
  edit(access: MakerAccess, patch: SubmissionPatch): Promise<Submission>;
  withdraw(access: MakerAccess): Promise<Submission>;
  setImage(access: MakerAccess, address: string): Promise<Submission>;
  addScreenshot(access: MakerAccess, address: string): Promise<Submission>;
  /** `base` is the version in which the screenshot has this index; by default, the latest version. */
  removeScreenshot(access: MakerAccess, index: number, base?: SubmissionVersion): Promise<Submission>;
  /** Checks that the maker may change the submission, before expensive work begins. */
  requireEditable(access: MakerAccess): Promise<void>;
  /** Like `requireEditable`, and checks that the product can have another screenshot. */
  requireScreenshotCapacity(access: MakerAccess): Promise<void>;
  /** Returns the author of the maker's comments on the product, or undefined if the submission has no product. */
  authorOf(access: MakerAccess): Promise<CommentAuthor | undefined>;
}

interface SubmissionsOptions {
  runtime: Runtime;
  timeZone: string;
  getStandings(productId: string): Promise<Standings | null>;
  /** If unset, no webhooks are sent. */
  recordEvents?: RecordEvents | undefined;
}

/** The limits of the cache of votes by hour: the maximum number of launches, and the maximum age of an entry. */
const MAX_CACHED_LAUNCHES = 1_000;
const VOTES_MAX_AGE_MS = 5_000;

export function createSubmissions(
  database: Database,
  { runtime, timeZone, getStandings, recordEvents }: SubmissionsOptions,
): Submissions {
  const rules = () => launchRules(runtime, timeZone);
  const hourlyVotes = new LRUCache<string, Promise<HourlyVotes[]>>({
    max: MAX_CACHED_LAUNCHES,
    ttl: VOTES_MAX_AGE_MS,
    perf: { now: runtime.monotonicMs },
  });

  /** Caches the votes by hour, because counting many votes is slow and makers reload often. */
  function getVotesByHour(id: string, launchedAt: Date): Promise<HourlyVotes[]> {
    const key = `${id} ${launchedAt.getTime()}`;
    const known = hourlyVotes.get(key);
    if (known) return known;
    const reading = readVotesByHour(database, id, runtime.now());
    hourlyVotes.set(key, reading);
    reading.catch(() => hourlyVotes.delete(key));
    return reading;
  }

  const describe = (row: SubmissionRow) =>
    describeSubmission(database, row, { ...rules(), getStandings, getVotesByHour });
  const read = async ({ id, makerKey }: MakerAccess) => {
    await requireMakerKey(database, id, makerKey);
    return checkKey(await readSubmissionRow(database, id), makerKey);
  };

  return {
    async create(sent, submitter, repetition) {
      const { row, makerKey, created } = await addWithSpamCheck(sent, repetition, (suspectedSpam) =>
        createSubmission(database, runtime, sent, { submitter, suspectedSpam, recordEvents }),
      );
      return { submission: await describe(row), makerKey, created };
    },
    get: async (access) => describe(await read(access)),
    async edit(access, patch) {
      const edit = (on: Database) => editSubmission(on, access, patch, rules());
      const [row, submission] = await readBeforeCommit(database, edit, async (sql) => {
        const edited = checkKey(await readSubmissionRow(sql, access.id), access.makerKey);
        const withoutVotes = { getStandings: async () => null, getVotesByHour: async () => [] };
        return describeSubmission(sql, edited, { ...rules(), ...withoutVotes });
      });
      // The edit is committed even if the standing of the launched product cannot be read. The database logs outages.
      return submission.status === 'launched' ? describe(row).catch(() => submission) : submission;
    },
    withdraw: async (access) => describe(await withdrawSubmission(database, access, rules())),
    setImage: async (access, address) => describe(await setImage(database, access, address, rules())),
    addScreenshot: async (access, address) => describe(await addScreenshot(database, access, address, rules())),
    removeScreenshot: async (access, index, base = {}) =>
      describe(await removeScreenshot(database, access, index, base, rules())),
    requireEditable: async (access) => requireEditable(database, await read(access), runtime.now()),
    async requireScreenshotCapacity(access) {
      const row = await read(access);
      await requireEditable(database, row, runtime.now());
      // Operators may have edited the screenshots of a scheduled product.
      requireScreenshotCapacity((await readApprovedProducts(database, [row])).get(row.id) ?? row.fields);
    },
    async authorOf(access) {
      const row = await read(access);
      const product = (await readApprovedProducts(database, [row])).get(row.id);
      if (product === undefined) return undefined;
      return { authorName: product.maker, authorAvatar: COMMENT_DEFAULTS.authorAvatar, authorBadge: MAKER_BADGE };
    },
  };
}
