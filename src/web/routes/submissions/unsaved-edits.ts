import type { Submission } from '../../../contract/submissions/schema.ts';
import { createBrowserStore } from '../../storage/browser-store.ts';
import { type Draft, draftOf, isDraft, readDraft, toSubmission } from './draft.ts';
import { isStored } from './submissions-client.ts';

/** A maker's unsaved changes to a submission, without pictures. */
export interface UnsavedEdit {
  /** The version that the changes are based on. */
  base: Submission;
  draft: Draft;
  /** Time of the last change, in milliseconds since 1970. */
  at: number;
}

/** The maximum number of stored edits. When it is exceeded, the oldest are deleted. */
const MAX_ITEMS = 20;

const MAX_AGE_MS = 30 * 24 * 60 * 60_000;

/** The edits, latest first. They are stored only in this browser and shared by its tabs. */
const unsavedEdits = createBrowserStore<readonly UnsavedEdit[]>('submission_edits', (saved) =>
  Array.isArray(saved) ? saved.flatMap(readEdit) : [],
);

/** Returns the unsaved changes to the submission with this id. */
export function unsavedEditOf(id: string, now = Date.now()): UnsavedEdit | undefined {
  return unsavedEdits.read().find(({ base, at }) => base.id === id && now - at < MAX_AGE_MS);
}

/** Stores the edit of a submission, or deletes it if the draft changes nothing. */
export function saveEdit(base: Submission, draft: Draft, now = Date.now()): void {
  const others = unsavedEdits.read().filter((edit) => edit.base.id !== base.id && now - edit.at < MAX_AGE_MS);
  write(isStored(toSubmission(draft), base) ? others : [{ base, draft, at: now }, ...others]);
}

/** Deletes the edit with this draft, but not one that another dialog or tab has stored since. */
export function deleteEdit({ idempotencyKey }: Draft): void {
  write(unsavedEdits.read().filter(({ draft }) => draft.idempotencyKey !== idempotencyKey));
}

/** Deletes an edit whose changes the submission already has, for example because the response to saving it was lost. */
export function deleteStoredEdit(submission: Submission): void {
  const edit = unsavedEditOf(submission.id);
  if (edit && isStored(toSubmission(edit.draft), submission)) deleteEdit(edit.draft);
}

function write(edits: readonly UnsavedEdit[]): void {
  unsavedEdits.write(edits.length > 0 ? edits.slice(0, MAX_ITEMS) : undefined);
}

/** Returns a stored edit in an array, or an empty array if the edit is invalid. */
function readEdit(value: unknown): UnsavedEdit[] {
  const { base, draft, at } = (value ?? {}) as Partial<UnsavedEdit>;
  if (typeof at !== 'number' || !isSubmission(base)) return [];
  return [{ base, draft: readDraft(draft, draftOf(base)), at }];
}

/** Checks the properties of a stored submission that dialogs use. */
export function isSubmission(value: unknown): value is Submission {
  const submission = (value ?? {}) as Partial<Submission>;
  const { id, revision, product } = submission;
  const isComplete = typeof id === 'string' && typeof revision === 'number' && Array.isArray(product?.team);
  return isComplete && Array.isArray(product?.screenshots) && isDraft(draftOf(submission as Submission));
}
