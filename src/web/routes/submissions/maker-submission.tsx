import { type Dispatch, type MouseEvent, type ReactNode, type SetStateAction, useEffect, useRef } from 'react';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { rich, t, translated } from '../../language/translate.ts';
import { useDocumentHead, useSite } from '../../routing/document-head.ts';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Picture } from '../../ui/picture.tsx';
import { showToast } from '../../ui/toasts.ts';
import { CardPreview } from './card-preview.tsx';
import { teamText } from './draft.ts';
import { EditDialog, RescheduleDialog, WithdrawDialog } from './maker-dialogs.tsx';
import type { MakerAccess } from './submissions-client.ts';
import { formatTime, formatTimeZone, visitorTimeZone } from './times.ts';
import { deleteStoredEdit } from './unsaved-edits.ts';

interface MakerSubmissionProps {
  access: MakerAccess;
  submission: Submission;
  /** Whether the submission fills the page. If not, it is shown above a product with the same id. */
  isPage: boolean;
  onChange: (submission: Submission) => void;
  open: OpenDialog | null;
  setOpen: Dispatch<SetStateAction<OpenDialog | null>>;
}

/** The open dialog. Each time a dialog opens, a new object is created. */
export interface OpenDialog {
  name: 'edit' | 'reschedule' | 'withdraw';
  /** Distinguishes the dialog from one that has closed, but whose `close` event follows only in the next frame. */
  number: number;
}

/** The maker's page of a submission. Other visitors do not see it. */
export function MakerSubmission({ access, submission, isPage, onChange, open, setOpen }: MakerSubmissionProps) {
  const page = useRef<HTMLElement>(null);
  /** The element that gets the focus when the dialog closes. */
  const opener = useRef<HTMLElement | null>(null);
  const { product, status, editable } = submission;

  useEffect(() => {
    if (open !== null) return;
    opener.current?.focus({ preventScroll: true });
    opener.current = null;
  }, [open]);

  useEffect(() => deleteStoredEdit(submission), [submission]);

  const opens = (name: OpenDialog['name']) => (event: MouseEvent<HTMLElement>) => {
    opener.current = event.currentTarget;
    setOpen((last) => ({ name, number: (last?.number ?? 0) + 1 }));
  };

  function close(changed?: Submission, message?: string): void {
    // If a dialog was closed while its request was pending, the response must not close the dialog that is open now.
    setOpen((now) => (now === open ? null : now));
    // The focus moves to the heading if the button is gone: a withdrawn submission has no buttons, and a declined one
    // cannot be rescheduled.
    const losesButton =
      changed?.status === 'withdrawn' || (changed?.status === 'declined' && open?.name === 'reschedule');
    if (losesButton) opener.current = page.current?.querySelector<HTMLElement>('h1, h2') ?? null;
    // If the dialog changed nothing, its version may be older than the page's.
    if (changed && changed.revision > submission.revision) onChange(changed);
    if (message) showToast({ title: t('Changes saved'), description: message });
  }

  const dialog = { access, submission, onClose: close };
  return (
    <article ref={page} className="maker-page" data-page={isPage}>
      <header className="maker-head">
        <p className="maker-eyebrow">{t('Your launch, as only you see it')}</p>
        {isPage ? (
          <MakerHeading name={product.name} />
        ) : (
          <h2 tabIndex={-1} dir="auto">
            {product.name}
          </h2>
        )}
        <MakerStatus submission={submission} />
        {editable && (
          <div className="maker-actions">
            <button type="button" className="button" data-tone="primary" onClick={opens('edit')}>
              {status === 'declined' ? t('Edit and send again') : t('Edit')}
            </button>
            {status !== 'declined' && (
              <button type="button" className="button" data-tone="outline" onClick={opens('reschedule')}>
                {t('Reschedule')}
              </button>
            )}
            <button type="button" className="button" data-tone="outline" onClick={opens('withdraw')}>
              {t('Withdraw')}
            </button>
          </div>
        )}
      </header>
      <section className="maker-preview" aria-labelledby="maker-preview">
        <h2 id="maker-preview">{t('As the list will show it')}</h2>
        <CardPreview product={{ ...product, upvotes: 0, comments: 0 }} />
      </section>
      <section className="maker-details" aria-labelledby="maker-details">
        <h2 id="maker-details">{t('On its page')}</h2>
        <p className="maker-description" dir="auto">
          {translated(product.description, 'default:')}
        </p>
        {product.screenshots.length > 0 && (
          <ul className="maker-screenshots" aria-label={t('Screenshots')}>
            {product.screenshots.map((src, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same picture may be listed twice
              <li key={index}>
                <Picture
                  src={src}
                  alt={t('Screenshot {number} of {name}', { number: index + 1, name: product.name })}
                  width={640}
                  height={400}
                />
              </li>
            ))}
          </ul>
        )}
        <dl className="maker-facts">
          <Fact label={t('Category')}>{translated(product.category, 'default:')}</Fact>
          <Fact label={t('Maker')}>{translated(product.maker, 'default:')}</Fact>
          {product.tags.length > 0 && <Fact label={t('Tags')}>{product.tags.join(t(', '))}</Fact>}
          {product.team.length > 0 && <Fact label={t('Team')}>{teamText(product.team)}</Fact>}
        </dl>
      </section>
      {open?.name === 'edit' && <EditDialog key={open.number} {...dialog} />}
      {open?.name === 'reschedule' && <RescheduleDialog key={open.number} {...dialog} />}
      {open?.name === 'withdraw' && <WithdrawDialog key={open.number} {...dialog} />}
    </article>
  );
}

/** The heading of the page. Also sets the title of the document. */
function MakerHeading({ name }: { name: string }) {
  const site = useSite();
  useDocumentHead({ title: `${t('{name}, your launch', { name })} · ${site.name}`, description: '', noindex: true });
  return <PageHeading dir="auto">{name}</PageHeading>;
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd dir="auto">{children}</dd>
    </div>
  );
}

const WORDS = {
  waiting: 'Waiting for review',
  scheduled: 'Approved',
  launched: 'Launched',
  declined: 'Declined',
  withdrawn: 'Withdrawn',
} as const;

function MakerStatus({ submission: { status, reason, launchAt, editable } }: { submission: Submission }) {
  const zone = visitorTimeZone();
  const when = launchAt && (
    <>
      <strong>{formatTime(launchAt, zone)}</strong>
      {t(', ')}
      {formatTimeZone(zone, new Date(launchAt))}
    </>
  );
  return (
    <div className="maker-status" data-status={status} role="status">
      <span className="maker-status-word">{t(WORDS[status])}</span>
      {status === 'waiting' && (
        <p>
          {`${t('A person will review your submission.')} `}
          {when
            ? rich('Once approved, it launches on {time}.', { time: when })
            : t('Once approved, it launches at once.')}
        </p>
      )}
      {status === 'scheduled' && when && <p>{rich('It launches on {time}.', { time: when })}</p>}
      {status === 'declined' && (
        <>
          <p>
            {t('It is not on the list.')}
            {editable && ` ${t('You can change it and send it again.')}`}
          </p>
          {/* The API gives the reason for a removal only in English. */}
          {reason && (
            <blockquote dir="auto">{editable ? reason : t('The product was removed from the site.')}</blockquote>
          )}
        </>
      )}
      {status === 'withdrawn' && (
        <p>{t('You withdrew it, and it will not launch. You can submit the product again.')}</p>
      )}
    </div>
  );
}
