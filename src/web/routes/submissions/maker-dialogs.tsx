import { useRef, useState } from 'react';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { rich, t } from '../../language/translate.ts';
import { useSite } from '../../routing/document-head.ts';
import { isDialogOpen, Modal } from '../../ui/modal.tsx';
import { draftOf, errorsIn, rebase, toSubmission } from './draft.ts';
import { errorOf, type FieldErrors } from './fields.tsx';
import { LaunchField } from './launch-field.tsx';
import { areStored, storedPictures } from './pictures.ts';
import { FailureNote, RestoredNote, SubmissionForm } from './submission-form.tsx';
import {
  type Failure,
  failureOf,
  isStored,
  type MakerAccess,
  SubmissionError,
  submissionsClient,
} from './submissions-client.ts';
import { type UnsavedEdit, unsavedEditOf } from './unsaved-edits.ts';
import { useFailureToast } from './use-failure-toast.ts';
import { type SubmissionForm as Form, useSubmissionForm } from './use-submission-form.ts';

interface MakerDialogProps {
  access: MakerAccess;
  submission: Submission;
  /** Called when the dialog closes. `changed` may be newer than the page's version. `message` confirms a change. */
  onClose: (changed?: Submission, message?: string) => void;
}

/**
 * Returns the version and the draft to start editing from. Unsaved changes are rebased onto the submission. If they
 * conflict with it, they stay as they are, and saving reports the conflicts.
 */
function startOf(unsaved: UnsavedEdit | undefined, submission: Submission): Pick<UnsavedEdit, 'base' | 'draft'> {
  if (unsaved === undefined) return { base: submission, draft: draftOf(submission) };
  const { draft, conflicts } = rebase(unsaved.draft, draftOf(unsaved.base), draftOf(submission));
  return conflicts.length > 0 ? unsaved : { base: submission, draft };
}

/** Returns whether a form changes nothing but the launch time. */
function changesOnlyTime({ draft, pictures }: Form, base: Submission): boolean {
  const { launchAt: _launchAt, ...others } = toSubmission(draft);
  return isStored(others, base) && areStored(pictures, base.product);
}

export function EditDialog({ access, submission, onClose }: MakerDialogProps) {
  const { timeZone = 'UTC' } = useSite();
  const [start] = useState(() => startOf(unsavedEditOf(access.id), submission));
  const [isRestored, setRestored] = useState(!isStored(toSubmission(start.draft), submission));
  const form = useSubmissionForm({
    draft: start.draft,
    pictures: storedPictures(start.base.product),
    editing: { access, submission: start.base },
    onDone(_, changed) {
      onClose(
        changed,
        changed.status === 'waiting' ? t('A person will review your submission.') : t('No further review is needed.'),
      );
    },
  });

  function startOver(): void {
    const base = form.latest() ?? start.base;
    const latest = submission.revision > base.revision ? submission : base;
    form.reset(draftOf(latest), storedPictures(latest.product), latest);
    setRestored(false);
  }

  return (
    <Modal title={t('Edit your launch')} onClose={() => onClose(form.latest())}>
      {isRestored && <RestoredNote form={form} onStartOver={startOver} />}
      {submission.status === 'scheduled' && (
        <p className="submission-restored">
          {t('Your launch is approved. If you change anything except the launch time, it needs another review.')}
        </p>
      )}
      <SubmissionForm
        form={form}
        isApproved={submission.status === 'scheduled' && changesOnlyTime(form, form.latest() ?? start.base)}
        siteTimeZone={timeZone}
        labels={{ submit: t('Save changes'), sending: t('Saving...') }}
      />
    </Modal>
  );
}

export function RescheduleDialog({ access, submission, onClose }: MakerDialogProps) {
  const { timeZone = 'UTC' } = useSite();
  // The version that the change is based on. The page below the dialog may show a later one.
  const [base, setBase] = useState(submission);
  const [launchAt, setLaunchAt] = useState(submission.launchAt ?? '');
  const [errors, setErrors] = useState<FieldErrors>([]);
  const { button, failure, isBusy, run } = useAction(access, setErrors);

  function save(): void {
    const found = errorsIn({ ...draftOf(base), launchAt });
    setErrors(found);
    if (found.length > 0) return;
    // Moves the focus to the button, because the field becomes inert while the time is being sent.
    button.current?.focus({ preventScroll: true });
    void run(async () => {
      const change = { launchAt: launchAt === '' ? null : launchAt };
      const saved = await submissionsClient.update(access, base, change, continueFrom);
      onClose(saved, saved.launchAt === base.launchAt ? undefined : t('The launch time has changed.'));
    });
  }

  /** Continues from a version that someone else has saved, with the time that the maker chose. */
  function continueFrom(latest: Submission): void {
    if (latest.status === 'declined') {
      // The submission was declined, and the page shows the reason. Saving again would submit the product again.
      onClose(latest);
      return;
    }
    const before = draftOf(base);
    const rebased = rebase({ ...before, launchAt }, before, draftOf(latest));
    setBase(latest);
    setLaunchAt(rebased.draft.launchAt);
    setErrors(rebased.conflicts);
  }

  return (
    <Modal title={t('Reschedule')} onClose={() => onClose()}>
      <form
        className="maker-dialog"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        {/* Inert while the time is being sent, because a conflict would overwrite a choice that is made meanwhile. */}
        <div inert={isBusy}>
          <LaunchField
            key={`${base.revision} ${base.productVersion}`}
            launchAt={launchAt}
            isApproved={submission.status === 'scheduled'}
            siteTimeZone={timeZone}
            error={errorOf(errors, 'launchAt')}
            onChange={(chosen) => {
              setLaunchAt(chosen);
              setErrors([]);
            }}
          />
        </div>
        <FailureNote failure={failure} />
        <button
          ref={button}
          type="submit"
          className="button submission-submit"
          data-tone="primary"
          aria-disabled={isBusy}
        >
          {t('Save launch time')}
        </button>
      </form>
    </Modal>
  );
}

export function WithdrawDialog({ access, submission, onClose }: MakerDialogProps) {
  const { button, failure, isBusy, run } = useAction(access);
  const withdraw = () =>
    run(async () => onClose(await submissionsClient.withdraw(access), t('Your product will not launch.')));
  return (
    <Modal title={rich('Withdraw {name}?', { name: <bdi>{submission.product.name}</bdi> })} onClose={() => onClose()}>
      <div className="maker-dialog">
        <p>{t('It will not launch, and this cannot be undone. To try again, submit the product again.')}</p>
        <FailureNote failure={failure} />
        <div className="maker-actions">
          <button ref={button} type="button" className="button maker-danger" aria-disabled={isBusy} onClick={withdraw}>
            {t('Withdraw')}
          </button>
          <button type="button" className="button" data-tone="outline" onClick={() => onClose()}>
            {t('Keep it')}
          </button>
        </div>
      </div>
    </Modal>
  );
}

/**
 * Returns `run`, which makes a change unless another one is running; `failure`, the failure of the last change; and
 * `button`, a ref for a button in the dialog. If the dialog was closed while sending, a toast shows the failure.
 */
function useAction({ id }: MakerAccess, onErrors?: (errors: FieldErrors) => void) {
  const button = useRef<HTMLButtonElement>(null);
  const showFailure = useFailureToast();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function run(change: () => Promise<void>): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    setFailure(null);
    try {
      await change();
    } catch (error) {
      if (!isDialogOpen(button.current)) showFailure(failureOf(error), id);
      else if (error instanceof SubmissionError && error.errors.length > 0 && onErrors) onErrors(error.errors);
      else setFailure(failureOf(error));
    } finally {
      setBusy(false);
    }
  }

  return { button, failure, isBusy, run };
}
