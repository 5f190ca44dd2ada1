import { isDeepStrictEqual } from 'node:util';
import { PRODUCT_FIELDS } from '../../contract/products/fields.ts';
import type { Product, TeamMember } from '../../contract/products/schema.ts';
import type { SubmissionPatch } from '../../contract/submissions/schema.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { CoreError } from '../core-error.ts';
import type { Database, Sql } from '../database/database.ts';
import { transactionWithRetries } from '../database/transactions.ts';
import { hasDayOfLaunch, versionOf } from '../products/save-products.ts';
import { createToken } from '../token.ts';
import { hashNetwork, lockQueue, requireQueueCapacity } from './create-submission.ts';
import {
  cancelLaunch,
  type LaunchRules,
  launchTime,
  lockScheduled,
  moveLaunch,
  requireScheduled,
} from './launch-product.ts';
import { type CheckedPatch, checkFields, invalidSubmission, type SubmissionFields } from './submission-fields.ts';
import {
  checkKey,
  lockSubmission,
  productOfFields,
  requireMakerKey,
  type SubmissionRow,
  type Undo,
  updateSubmission,
} from './submission-row.ts';

/** A submission and the key that proves that the caller is its maker. */
export interface MakerAccess {
  id: string;
  makerKey: string | undefined;
  /** The prefix of the maker's network; unset if limits are off. */
  network?: Uint8Array | undefined;
}

/** The version of a submission that the maker edited. Unset values are not checked. */
export interface SubmissionVersion {
  revision?: number | undefined;
  productVersion?: string | null | undefined;
}

/**
 * Changes fields and the launch time of a submission. Any edit returns a declined submission to the review queue. An
 * edit returns a scheduled submission to the queue only if it changes more than the launch time.
 * @throws CoreError `submission_not_found`, `submission_invalid`, `submission_changed`, `submission_withdrawn`,
 * `already_launched`, `too_many_waiting`, `unavailable`.
 */
export function editSubmission(
  database: Database,
  access: MakerAccess,
  { revision, productVersion, ...patch }: SubmissionPatch,
  rules: LaunchRules,
): Promise<SubmissionRow> {
  return changeAsMaker(database, access, rules, async (sql, row, product) => {
    requireVersion(row, product, { revision, productVersion });
    // A form sends back an unchanged time, which is not checked, because it may have passed in the meantime.
    const { launchAt, ...others } = patch;
    const isSameTime = typeof launchAt === 'string' && Date.parse(launchAt) === row.launch_at?.getTime();
    return applyPatch(sql, row, checkFields(isSameTime ? others : patch, rules.now), access.network, rules);
  });
}

function requireVersion(row: SubmissionRow, product: Product | undefined, base: SubmissionVersion): void {
  const { revision = row.revision, productVersion } = base;
  if (revision !== row.revision) throw submissionChanged();
  const version = product ? versionOf(product) : null;
  if (productVersion !== undefined && productVersion !== version) throw submissionChanged();
}

/** Sets the image to a picture of the site's store. @throws CoreError as `editSubmission`. */
export function setImage(
  database: Database,
  access: MakerAccess,
  address: string,
  rules: LaunchRules,
): Promise<SubmissionRow> {
  return changePictures(database, access, rules, () => ({ image: address }));
}

/**
 * Appends a screenshot, unless the product already has it, for example because an upload was repeated after its
 * response was lost.
 * @throws CoreError as `editSubmission`; `submission_invalid` if the product has the maximum number of screenshots.
 */
export function addScreenshot(
  database: Database,
  access: MakerAccess,
  address: string,
  rules: LaunchRules,
): Promise<SubmissionRow> {
  return changePictures(database, access, rules, (fields) => {
    if (fields.screenshots.includes(address)) return {};
    requireScreenshotCapacity(fields);
    return { screenshots: [...fields.screenshots, address] };
  });
}

/** Checks that a product can have another screenshot. @throws CoreError `submission_invalid`. */
export function requireScreenshotCapacity({ screenshots }: Pick<Product, 'screenshots'>): void {
  const { maxItems } = PRODUCT_FIELDS.screenshots;
  if (screenshots.length < maxItems) return;
  const detail = `A product can have at most ${maxItems} screenshots.`;
  throw invalidSubmission([{ field: 'screenshots', detail }]);
}

/**
 * Removes a screenshot by its index in the version `base`.
 * @throws CoreError as `editSubmission`; `screenshot_not_found`.
 */
export function removeScreenshot(
  database: Database,
  access: MakerAccess,
  index: number,
  base: SubmissionVersion,
  rules: LaunchRules,
): Promise<SubmissionRow> {
  const remove = ({ screenshots }: SubmissionFields) => {
    if (screenshots[index] === undefined) throw new CoreError('screenshot_not_found', 'There is no such screenshot.');
    return { screenshots: screenshots.filter((_, each) => each !== index) };
  };
  return changePictures(database, access, rules, remove, base);
}

/**
 * Changes the pictures, unless the submission is declined: an upload that began before the decline must not return the
 * submission to the queue.
 */
function changePictures(
  database: Database,
  access: MakerAccess,
  rules: LaunchRules,
  change: (fields: SubmissionFields) => Partial<SubmissionFields>,
  base: SubmissionVersion = {},
): Promise<SubmissionRow> {
  return changeAsMaker(database, access, rules, (sql, row, product) => {
    requireVersion(row, product, base);
    if (row.status === 'declined') {
      throw submissionChanged('This submission was declined. Edit it before you change its pictures.');
    }
    return applyPatch(sql, row, { fields: change(row.fields) }, access.network, rules);
  });
}

/**
 * Withdraws a submission permanently and cancels its scheduled launch. Repeated calls have no further effect.
 * @throws CoreError `submission_not_found`, `already_launched`, `unavailable`.
 */
export function withdrawSubmission(
  database: Database,
  { id, makerKey }: MakerAccess,
  rules: LaunchRules,
): Promise<SubmissionRow> {
  return transactionWithRetries(database, async (sql) => {
    const row = await lockAsMaker(sql, id, makerKey);
    if (row.status === 'withdrawn') return row;
    await requireScheduled(sql, row, rules.now);
    if (row.status === 'approved') await cancelLaunch(sql, id, rules);
    return updateSubmission(sql, row, { status: 'withdrawn', undo: null }, rules.now);
  });
}

async function lockAsMaker(sql: Sql, id: string, makerKey: string | undefined): Promise<SubmissionRow> {
  await requireMakerKey(sql, id, makerKey);
  // The key is checked again under the lock, because it may have been renewed in the meantime.
  return checkKey(await lockSubmission(sql, id), makerKey);
}

function changeAsMaker(
  database: Database,
  { id, makerKey }: MakerAccess,
  rules: LaunchRules,
  change: (sql: Sql, row: SubmissionRow, product?: Product) => Promise<SubmissionRow>,
): Promise<SubmissionRow> {
  return transactionWithRetries(database, async (sql) => {
    const row = await lockAsMaker(sql, id, makerKey);
    await requireEditable(sql, row, rules.now);
    if (row.status !== 'approved') return change(sql, row);
    const product = await lockScheduled(sql, id, rules);
    return change(sql, withProduct(row, product), product);
  });
}

/** Returns a row with the fields and the launch time of its product, which operators may have edited. */
export function withProduct(
  row: SubmissionRow,
  { id: _id, launchDate, createdAt, upvotes: _upvotes, comments: _comments, ...others }: Product,
): SubmissionRow {
  const fields = hasDayOfLaunch({ launchDate, createdAt }) ? others : { ...others, launchDate };
  return { ...row, fields, approved_fields: fields, launch_at: new Date(createdAt) };
}

/**
 * Checks that the maker can change a submission.
 * @throws CoreError `submission_withdrawn`, `already_launched`, `unavailable`.
 */
export async function requireEditable(sql: Sql, row: SubmissionRow, now: Date): Promise<void> {
  if (row.status === 'withdrawn') {
    throw new CoreError('submission_withdrawn', 'This submission was withdrawn. Please submit the product again.');
  }
  await requireScheduled(sql, row, now);
}

async function applyPatch(
  sql: Sql,
  row: SubmissionRow,
  patch: CheckedPatch,
  network: Uint8Array | undefined,
  rules: LaunchRules,
): Promise<SubmissionRow> {
  const { now } = rules;
  const fields: SubmissionFields = { ...row.fields, ...withAvatars(patch.fields, row.fields.team) };
  const launchAt = patch.launchAt === undefined ? row.launch_at : patch.launchAt;
  const isSameTime = launchAt?.getTime() === row.launch_at?.getTime();
  // The products are compared, because a blank field gets the same value as a field that is set to the default.
  const complete = (each: SubmissionFields) => productOfFields(row.id, each, now, rules.timeZone);
  const isSameProduct = isDeepStrictEqual(complete(fields), complete(row.fields));
  if (isSameProduct && row.status !== 'declined') {
    if (isSameTime) return row;
    return reschedule(sql, row, launchAt, rules);
  }
  if (row.status === 'waiting') return updateSubmission(sql, row, { fields, launch_at: launchAt, undo: null }, now);
  if (row.status === 'approved') await cancelLaunch(sql, row.id, rules);
  const hashed = hashNetwork(await lockQueue(sql), network);
  // An edit of an approved submission takes up a slot, but is not refused if none is left.
  if (row.status === 'declined') await requireQueueCapacity(sql, hashed);
  const undo = isSameProduct ? undoAt(row, launchAt) : null;
  const change = { status: 'waiting', fields, launch_at: launchAt, reason: null, undo, network: hashed } as const;
  return updateSubmission(sql, row, { ...change, waiting_since: now, decided_at: null }, now);
}

/** Adds the avatars that operators set, which makers cannot change. They are matched by the names of the members. */
function withAvatars(sent: CheckedPatch['fields'], team: readonly TeamMember[]): CheckedPatch['fields'] {
  if (sent.team === undefined) return sent;
  const avatarOf = (member: TeamMember) => team.find(({ name }) => name === member.name)?.avatar ?? member.avatar;
  return { ...sent, team: sent.team.map((member) => ({ ...member, avatar: avatarOf(member) })) };
}

/** Returns the undo of the last decision after the maker changed only the launch time. The undo keeps the new time. */
function undoAt({ undo }: SubmissionRow, launchAt: Date | null): Undo | null {
  return undo && { ...undo, launchAt: launchAt?.toISOString() ?? null };
}

/** Changes the launch time. An approved submission stays approved. */
async function reschedule(
  sql: Sql,
  row: SubmissionRow,
  launchAt: Date | null,
  rules: LaunchRules,
): Promise<SubmissionRow> {
  const undo = undoAt(row, launchAt);
  if (row.status !== 'approved') return updateSubmission(sql, row, { launch_at: launchAt, undo }, rules.now);
  const time = launchTime(launchAt, rules.now);
  await moveLaunch(sql, row.id, time, rules);
  return updateSubmission(sql, row, { launch_at: time, undo }, rules.now);
}

export function submissionChanged(detail = 'This submission has changed. Reload it before you change it.'): CoreError {
  return new CoreError('submission_changed', detail);
}

const REPLACE_KEYS = 'UPDATE submissions SET key_hashes = ARRAY[$2::bytea] WHERE id = $1';
const DELETE_RETRIES = 'DELETE FROM submission_idempotency_keys WHERE submission_id = $1';

/**
 * Gives a submission a new maker key and invalidates all earlier keys.
 * @returns the key, of which only a hash is stored.
 * @throws CoreError `submission_not_found`, `unavailable`.
 */
export function renewMakerKey(database: Database, id: string): Promise<string> {
  const { text: key, hash } = createToken();
  return transactionWithRetries(database, async (sql) => {
    await lockSubmission(sql, id);
    await sql.query(REPLACE_KEYS, [id, hash]);
    await sql.query(DELETE_RETRIES, [id]);
    await recordAudit(sql, { action: 'submissions key', target: id });
    return key;
  });
}
