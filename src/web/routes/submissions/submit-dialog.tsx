import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import * as paths from '../../../contract/paths.ts';
import { PRODUCT_FIELDS } from '../../../contract/products/fields.ts';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { t, translated } from '../../language/translate.ts';
import { useSite } from '../../routing/document-head.ts';
import { useRouter } from '../../routing/router.tsx';
import { createBrowserStore, useBrowserStore } from '../../storage/browser-store.ts';
import { makerKeys, saveMakerKey } from '../../storage/maker-keys.ts';
import { Link } from '../../ui/link.tsx';
import { Modal } from '../../ui/modal.tsx';
import { showToast } from '../../ui/toasts.ts';
import { newDraft, saveDraft, savedDraft } from './draft.ts';
import { NO_PICTURES } from './pictures.ts';
import { RestoredNote, SubmissionForm, SubmissionStyles } from './submission-form.tsx';
import type { MakerAccess } from './submissions-client.ts';
import { Submitted } from './submitted.tsx';
import { isSubmission } from './unsaved-edits.ts';
import { useSubmissionForm } from './use-submission-form.ts';

interface Done {
  access: MakerAccess;
  submission: Submission;
}

/**
 * New submissions whose maker links have not been shown. A dialog shows them when it opens or closes. They are stored
 * in this tab, because it may be reloaded while pictures are being uploaded.
 */
const unshown = createBrowserStore<readonly Done[]>(
  'unshown_submissions',
  (stored) => (Array.isArray(stored) ? stored.filter(isDone) : []),
  'sessionStorage',
);

function isDone(value: unknown): value is Done {
  const { access, submission } = (value ?? {}) as Partial<Done>;
  return typeof access?.key === 'string' && isSubmission(submission) && access.id === submission.id;
}

const isUnshown = (id: string) => unshown.read().some(({ access }) => access.id === id);
const withoutUnshown = (id: string) => unshown.read().filter(({ access }) => access.id !== id);

function addUnshown(added: Done): void {
  const { id, revision } = added.submission;
  // The form calls this function after every render, usually without a new version.
  if (unshown.read().some(({ submission }) => submission.id === id && submission.revision === revision)) return;
  unshown.write([...withoutUnshown(id), added]);
}

/**
 * The dialog for submitting a product. Closing it discards only the pictures. `isFromLink` says whether the previous
 * history entry is the page on which the visitor pressed the link to the dialog.
 */
export function SubmitDialog({ isFromLink }: { isFromLink: boolean }) {
  const [done, setDone] = useState(() => unshown.read()[0]);
  const [opened, setOpened] = useState(1);
  const { location, navigate } = useRouter();

  useLayoutEffect(() => {
    if (done) unshown.write(withoutUnshown(done.access.id));
  }, [done]);

  function close(): void {
    const [next] = unshown.read();
    if (next) {
      // Only this dialog shows the maker link, so it opens again to show the link.
      setDone(next);
      setOpened(opened + 1);
      return;
    }
    // The visitor has pressed the link again, but the dialog of this press is not rendered yet.
    if (window.history.state?.key !== location.key) return;
    // Goes back to the page that the visitor came from, at its scroll position.
    if (isFromLink) {
      window.history.back();
      return;
    }
    navigate(paths.home, { replace: true });
    // If the page was loaded with the dialog open, the browser has no earlier focus to restore.
    document.querySelector<HTMLElement>('.submit-link')?.focus();
  }

  function finish(access: MakerAccess, submission: Submission, isOpen: boolean): void {
    if (isOpen) {
      setDone({ access, submission });
      return;
    }
    // The dialog was closed while the form was being sent, so the maker has not seen the maker link.
    if (isUnshown(access.id) && !makerKeys.isPersisted()) {
      navigate(paths.submit);
      return;
    }
    showToast({
      title: t('Submitted'),
      description: t('{name} is waiting for review.', { name: submission.product.name }),
      action: {
        label: isUnshown(access.id) ? t('Your maker link') : t('See your launch'),
        onPress: () => navigate(isUnshown(access.id) ? paths.submit : paths.product(access.id)),
      },
    });
  }

  return (
    <>
      <SubmissionStyles />
      <Modal key={opened} title={done ? t('Submitted') : t('Submit a product')} onClose={close}>
        {done ? <Submitted {...done} /> : <NewSubmission onDone={finish} />}
      </Modal>
    </>
  );
}

interface NewSubmissionProps {
  onDone: (access: MakerAccess, submission: Submission, isOpen: boolean) => void;
}

function NewSubmission({ onDone }: NewSubmissionProps) {
  const { timeZone = 'UTC' } = useSite();
  const [restored, setRestored] = useState(() => savedDraft.read());
  const shared = useBrowserStore(savedDraft, (draft) => draft);
  const created = useRef<MakerAccess>(undefined);
  const form = useSubmissionForm({
    draft: restored ?? newDraft(),
    pictures: NO_PICTURES,
    onDraft(draft) {
      // Storing the draft of another tab again could overwrite a later version of it.
      if (draft !== shared) saveDraft(draft);
    },
    onCreated({ id, key }, submission, { idempotencyKey }) {
      created.current = { id, key };
      // Stored immediately, because no later response contains the key.
      saveMakerKey({ productId: id, name: submission.product.name, key });
      addUnshown({ access: created.current, submission });
      // The dialog may have been closed and opened again for another product, whose draft stays.
      if (savedDraft.read()?.idempotencyKey === idempotencyKey) savedDraft.write(undefined);
      // Hides the note about the restored draft, whose button would now change the created submission.
      setRestored(null);
    },
    onDone,
  });

  // Shows the text that the maker has entered in another tab. Otherwise, typing here would overwrite it.
  useEffect(() => {
    const isShown = shared === null || shared.idempotencyKey === form.draft.idempotencyKey;
    if (!isShown && !form.isSending && !form.latest()) form.reset(shared);
  });

  // Uses a layout effect to store the latest version, because visitors may close the dialog as soon as it shows a
  // failure.
  useLayoutEffect(() => {
    const submission = form.latest();
    if (created.current && submission) addUnshown({ access: created.current, submission });
  });

  function startOver(): void {
    form.reset(newDraft(), NO_PICTURES);
    setRestored(null);
  }

  return (
    <>
      <p className="submission-lead">
        {t('You need no account. A person reviews your product before it goes on the list.')}
      </p>
      <OwnSubmissions />
      {restored && <RestoredNote form={form} onStartOver={startOver} />}
      <SubmissionForm
        form={form}
        siteTimeZone={timeZone}
        labels={{ submit: t('Submit for review'), sending: t('Sending...') }}
      >
        <p className="submission-hint">
          {t(
            'Without a picture, the card shows a drawn wave. {category} and {maker} stand in for what you leave empty.',
            {
              category: translated(PRODUCT_FIELDS.category.default, 'default:'),
              maker: translated(PRODUCT_FIELDS.maker.default, 'default:'),
            },
          )}
        </p>
      </SubmissionForm>
    </>
  );
}

/** Links to the latest submissions, at most five, whose maker keys this browser had stored when the form opened. */
function OwnSubmissions() {
  const own = useBrowserStore(makerKeys, (all) => all);
  const [before] = useState(own);
  if (before.length === 0) return null;
  return (
    <nav className="submission-own" aria-label={t('Your submissions')}>
      {`${t('Your submissions so far:')} `}
      {before.slice(0, 5).map(({ productId, name }) => (
        <Link key={productId} to={paths.product(productId)} dir="auto">
          {name || productId}
        </Link>
      ))}
    </nav>
  );
}
