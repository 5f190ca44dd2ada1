import { type RefObject, useRef, useState } from 'react';
import type { FieldError } from '../../../contract/problem.ts';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { isDialogOpen } from '../../ui/modal.tsx';
import { type Draft, draftOf, errorsIn, fieldWith, newDraft, rebase, toSubmission } from './draft.ts';
import {
  addOthers,
  areStored,
  filesOf,
  NO_PICTURES,
  type PictureItem,
  type Pictures,
  pictureErrors,
  pictureRefused,
  readPictures,
  rebasePictures,
  savePictures,
  storedPictures,
} from './pictures.ts';
import { type Failure, failureOf, type MakerAccess, SubmissionError, submissionsClient } from './submissions-client.ts';
import { deleteEdit, saveEdit } from './unsaved-edits.ts';
import { useFailureToast } from './use-failure-toast.ts';

export interface SubmissionForm {
  element: RefObject<HTMLFormElement | null>;
  draft: Draft;
  pictures: Pictures;
  /** The errors of the last attempt, except those of fields that have changed since. */
  errors: readonly FieldError[];
  /** The number of attempts that found errors. */
  invalidAttempts: number;
  /** Increases when the form is reset or adopts a version of the submission whose launch time may differ. */
  replacements: number;
  failure: Failure | null;
  isSending: boolean;
  /**
   * `total` is the number of pictures in this attempt. `sent` is the number of pictures that have been sent, including
   * the sent share of the current one. Null while no picture is being sent.
   */
  progress: { total: number; sent: number } | null;
  set: (change: Partial<Draft>) => void;
  setPictures: (pictures: Pictures) => void;
  /**
   * Replaces everything that the maker has entered, by default without the pictures. `latest` is a newer version to edit
   * from now on, if there is one.
   */
  reset: (draft: Draft, pictures?: Pictures, latest?: Submission) => void;
  addFiles: (files: readonly File[], use: keyof Pictures) => void;
  /** `website` is the honeypot field. */
  submit: (website: string) => Promise<void>;
  /** Returns the latest version of the submission that this form knows, or undefined before the form has created it. */
  latest: () => Submission | undefined;
}

interface Options {
  draft: Draft;
  pictures: Pictures;
  /** The submission to edit. If unset, the form creates one. */
  editing?: { access: MakerAccess; submission: Submission };
  onDraft?: (draft: Draft) => void;
  /** Called after a new submission has been created from a draft, before its pictures are uploaded. */
  onCreated?: (access: MakerAccess, submission: Submission, draft: Draft) => void;
  /** Called after everything has been stored on the server. `isOpen`: whether the form's dialog is still open. */
  onDone: (access: MakerAccess, submission: Submission, isOpen: boolean) => void;
}

const NO_ERRORS: readonly FieldError[] = [];

export function useSubmissionForm(options: Options): SubmissionForm {
  const { onDraft, onCreated, onDone } = options;
  const showFailure = useFailureToast();
  const element = useRef<HTMLFormElement>(null);
  const [draft, showDraft] = useState(options.draft);
  const [pictures, showPictures] = useState(options.pictures);
  /** The latest draft and pictures, which may not be rendered yet. */
  const latestDraft = useRef(options.draft);
  const latestPictures = useRef(options.pictures);
  /** Resolves once the form has added all files that the maker has chosen. */
  const filesAdded = useRef(Promise.resolve());
  const [errors, setErrors] = useState(NO_ERRORS);
  const [invalidAttempts, setInvalidAttempts] = useState(0);
  const [replacements, setReplacements] = useState(0);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setSending] = useState(false);
  const [total, setTotal] = useState(0);
  /**
   * The submission, once it exists on the server. If the upload of a picture fails, the next attempt updates this
   * submission instead of creating another.
   */
  const existing = useRef(options.editing ?? null);

  function set(change: Partial<Draft>): void {
    // A changed draft gets a new idempotency key: even if the response to an earlier attempt was lost, the new draft is
    // a different submission.
    changeDraft({ ...latestDraft.current, idempotencyKey: newDraft().idempotencyKey, ...change });
    clearErrors(Object.keys(change));
  }

  function setDraft(next: Draft): void {
    latestDraft.current = next;
    showDraft(next);
  }

  /** Sets the draft and stores it, because the browser may close the page at any time. */
  function changeDraft(next: Draft): void {
    setDraft(next);
    if (existing.current) saveEdit(existing.current.submission, next);
    else onDraft?.(next);
  }

  function setPictures(change: (now: Pictures) => Pictures): void {
    latestPictures.current = change(latestPictures.current);
    showPictures(latestPictures.current);
  }

  function changePictures({ image, screenshots }: Pictures): void {
    // Without a new image, the product keeps the stored one, which the API cannot remove.
    const stored = existing.current && storedPictures(existing.current.submission.product).image;
    setPictures(() => ({ image: image ?? stored, screenshots }));
    clearErrors(['image', 'screenshots']);
  }

  function reset(draft: Draft, pictures = latestPictures.current, latest?: Submission): void {
    if (latest && existing.current) existing.current = { ...existing.current, submission: latest };
    changeDraft(draft);
    setPictures(() => pictures);
    setErrors(NO_ERRORS);
    setFailure(null);
    setReplacements((count) => count + 1);
  }

  function report(found: readonly FieldError[]): void {
    setErrors(found);
    if (found.length > 0) setInvalidAttempts((before) => before + 1);
  }

  function clearErrors(fields: readonly string[]): void {
    setErrors((now) => now.filter((error) => !fields.includes(fieldWith(error))));
  }

  /**
   * Adds files in the order in which the maker chose them, so a later image replaces an earlier one. If several files
   * are chosen for the image, all but the first become screenshots.
   */
  function addFiles(files: readonly File[], use: keyof Pictures): void {
    clearErrors([use]);
    filesAdded.current = filesAdded.current.then(async () => {
      const items = await readPictures(files);
      setPictures((now) => {
        const [image = now.image] = use === 'image' ? items : [];
        return { image, screenshots: [...now.screenshots, ...(use === 'image' ? items.slice(1) : items)] };
      });
    });
  }

  function onPicture(key: string, change: Partial<PictureItem>): void {
    const update = (item: PictureItem) => (item.key === key ? { ...item, ...change } : item);
    setPictures(({ image, screenshots }) => ({ image: image && update(image), screenshots: screenshots.map(update) }));
  }

  const isOpen = () => isDialogOpen(element.current);

  /** Shows a failure in the form or, if the dialog was closed while sending, as a toast. */
  function fail(failure: Failure): void {
    if (isOpen()) setFailure(failure);
    else showFailure(failure, existing.current?.access.id);
  }

  /** Rebases the maker's changes onto a later version, which someone else may have saved, and reports conflicts. */
  function continueFrom(latest: Submission): void {
    if (existing.current === null) return;
    const before = existing.current.submission;
    existing.current = { ...existing.current, submission: latest };
    const rebased = rebase(latestDraft.current, draftOf(before), draftOf(latest));
    (isOpen() ? changeDraft : setDraft)(rebased.draft);
    setPictures((now) => rebasePictures(now, storedPictures(before.product), storedPictures(latest.product)));
    report(rebased.conflicts);
    setReplacements((count) => count + 1);
  }

  /**
   * Continues from the version that the server returns after it stores or removes a picture. This version has a new
   * revision, and may contain changes by others. Texts cannot conflict, because the form has just saved the maker's
   * texts.
   */
  function continueAfterPicture(latest: Submission): void {
    if (existing.current === null) return;
    const before = existing.current.submission;
    existing.current = { ...existing.current, submission: latest };
    setDraft(rebase(latestDraft.current, draftOf(before), draftOf(latest)).draft);
    setPictures((now) => addOthers(now, storedPictures(before.product), storedPictures(latest.product)));
    if (latest.launchAt !== before.launchAt) setReplacements((count) => count + 1);
  }

  /** Creates or updates the submission. If `isTimeLast` is true, the update omits the launch time. */
  async function save(website: string, isTimeLast: boolean): Promise<{ access: MakerAccess; submission: Submission }> {
    const texts = toSubmission(draft);
    if (existing.current) {
      const { access, submission } = existing.current;
      const { launchAt: _launchAt, ...others } = texts;
      const change = isTimeLast ? others : texts;
      return { access, submission: await submissionsClient.update(access, submission, change, continueFrom) };
    }
    const sent = website === '' ? texts : { ...texts, website };
    const { submission, makerKey } = await submissionsClient.create(sent, draft.idempotencyKey);
    const access = { id: submission.id, key: makerKey };
    // Another tab may have submitted the same draft, with other pictures.
    setPictures((now) => rebasePictures(now, NO_PICTURES, storedPictures(submission.product)));
    onCreated?.(access, submission, draft);
    return { access, submission };
  }

  /** Reports the errors that the form itself can find. Returns whether there are none. */
  function validate(): boolean {
    const found = [...errorsIn(draft), ...pictureErrors(latestPictures.current)];
    report(found);
    return found.length === 0;
  }

  /**
   * Returns whether to send the launch time after the pictures: if the new time is earlier than the scheduled one, or
   * unset, the product could launch before its changed pictures are reviewed. A later time is sent first, because the
   * product could launch at the old time during the uploads; a past one, because the server rejects it.
   */
  function mustSendTimeLast(before: Submission | undefined): boolean {
    if (before?.status !== 'scheduled' || areStored(latestPictures.current, before.product)) return false;
    const hasPassed = Date.parse(draft.launchAt) <= Date.now();
    return draft.launchAt < (before.launchAt ?? '') && !hasPassed;
  }

  /** Throws an error if someone else has changed the launch time since `before` to a time other than the maker's. */
  function checkTime(before: Submission, latest: Submission): void {
    const { conflicts } = rebase(draft, { ...draft, launchAt: before.launchAt ?? '' }, draftOf(latest));
    if (conflicts.length === 0) return;
    report(conflicts);
    throw new SubmissionError(409, { code: 'submission_changed' });
  }

  async function submit(website: string): Promise<void> {
    if (isSending) return;
    setFailure(null);
    if (!validate()) return;
    setSending(true);
    try {
      await filesAdded.current;
      if (!validate()) return;
      const { launchAt = null } = toSubmission(draft);
      const before = existing.current?.submission;
      const isTimeLast = mustSendTimeLast(before);
      existing.current = await save(website, isTimeLast);
      const { access, submission } = existing.current;
      if (!isTimeLast) deleteEdit(draft);
      else if (before) checkTime(before, submission);
      // Read after `save`, which may have rebased the pictures onto a later version.
      const pictures = latestPictures.current;
      setTotal(filesOf(pictures).length);
      let refused = false;
      const latest = await savePictures({
        access,
        pictures,
        stored: submission,
        onChange(key, change) {
          refused ||= change.error !== undefined;
          onPicture(key, change);
        },
        onStored: continueAfterPicture,
      });
      let saved = latest;
      const isTimeSaved = !isTimeLast || !refused || latest.status !== 'scheduled';
      if (before && isTimeLast && isTimeSaved) {
        checkTime(before, latest);
        saved = await submissionsClient.update(access, latest, { launchAt }, continueFrom);
        existing.current = { access, submission: saved };
        deleteEdit(draft);
      }
      if (refused) fail(pictureRefused(isTimeSaved));
      else onDone(access, saved, isOpen());
    } catch (error) {
      if (error instanceof SubmissionError && error.errors.length > 0 && isOpen()) report(error.errors);
      else fail(failureOf(error, { isSaved: existing.current === null && onDraft !== undefined, latest: latest() }));
    } finally {
      setSending(false);
    }
  }

  const latest = () => existing.current?.submission;
  const left = filesOf(pictures);
  const share = left.find(({ sent }) => sent !== undefined)?.sent;
  const progress = isSending && share !== undefined ? { total, sent: total - left.length + share } : null;
  return {
    ...{ element, draft, pictures, errors, invalidAttempts, replacements, failure, isSending, progress },
    ...{ set, setPictures: changePictures, reset, addFiles, submit, latest },
  };
}
