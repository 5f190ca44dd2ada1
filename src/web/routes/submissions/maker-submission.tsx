import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { PRODUCT_FIELDS } from '../../../contract/products/fields.ts';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { useDocumentHead, useSite } from '../../routing/document-head.ts';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Picture } from '../../ui/picture.tsx';
import { showToast } from '../../ui/toasts.ts';
import { CardPreview } from './card-preview.tsx';
import { EditDialog, RescheduleDialog, WithdrawDialog } from './maker-dialogs.tsx';
import type { MakerAccess } from './submissions-client.ts';
import { timeInWords, timeZoneInWords, visitorTimeZone } from './times.ts';

export interface MakerSubmissionProps {
  access: MakerAccess;
  submission: Submission;
  onChange: (submission: Submission) => void;
}

type DialogName = 'edit' | 'reschedule' | 'withdraw';

/** A launch that is not on the site yet: a page for its maker only. */
export function MakerSubmission({ access, submission, onChange }: MakerSubmissionProps) {
  const site = useSite();
  const [open, setOpen] = useState<DialogName | null>(null);
  const page = useRef<HTMLElement>(null);
  /** Gets the focus when the dialog closes. */
  const opener = useRef<HTMLElement | null>(null);
  const { product, status, editable } = submission;
  useDocumentHead({ title: `${product.name}, your launch · ${site.name}`, description: '', noindex: true });

  useEffect(() => {
    if (open !== null) return;
    opener.current?.focus({ preventScroll: true });
    opener.current = null;
  }, [open]);

  const opens = (name: DialogName) => (event: MouseEvent<HTMLElement>) => {
    opener.current = event.currentTarget;
    setOpen(name);
  };

  function close(changed?: Submission, said?: string): void {
    setOpen(null);
    // The buttons disappear with it.
    if (changed?.status === 'withdrawn') opener.current = page.current?.querySelector('h1') ?? null;
    if (changed) onChange(changed);
    if (said) showToast({ title: 'Saved', description: said });
  }

  const dialog = { access, submission, onClose: close };
  return (
    <article ref={page} className="maker-page">
      <header className="maker-head">
        <p className="maker-eyebrow">Your launch, as only you see it</p>
        <PageHeading dir="auto">{product.name}</PageHeading>
        <MakerStatus submission={submission} />
        {editable && (
          <div className="maker-actions">
            <button type="button" className="button" data-tone="primary" onClick={opens('edit')}>
              {status === 'declined' ? 'Edit and send again' : 'Edit'}
            </button>
            {status !== 'declined' && (
              <button type="button" className="button" data-tone="outline" onClick={opens('reschedule')}>
                Reschedule
              </button>
            )}
            <button type="button" className="button" data-tone="outline" onClick={opens('withdraw')}>
              Withdraw
            </button>
          </div>
        )}
      </header>
      <section className="maker-preview" aria-labelledby="maker-preview">
        <h2 id="maker-preview">As the list will show it</h2>
        <CardPreview product={{ ...product, upvotes: 0, comments: 0 }} />
      </section>
      <section className="maker-details" aria-labelledby="maker-details">
        <h2 id="maker-details">On its page</h2>
        <p className="maker-description" dir="auto">
          {product.description}
        </p>
        {product.screenshots.length > 0 && (
          <ul className="maker-screenshots" aria-label="Screenshots">
            {product.screenshots.map((src, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same picture may be listed twice
              <li key={index}>
                <Picture src={src} alt={`Screenshot ${index + 1} of ${product.name}`} width={640} height={400} />
              </li>
            ))}
          </ul>
        )}
        <dl className="maker-facts">
          <Fact label={PRODUCT_FIELDS.category.label}>{product.category}</Fact>
          <Fact label={PRODUCT_FIELDS.maker.label}>{product.maker}</Fact>
          {product.tags.length > 0 && <Fact label="Tags">{product.tags.join(', ')}</Fact>}
          {product.team.length > 0 && (
            <Fact label="Team">
              {product.team.map(({ name, role }) => (role ? `${name}, ${role}` : name)).join(' · ')}
            </Fact>
          )}
        </dl>
      </section>
      {open === 'edit' && <EditDialog {...dialog} />}
      {open === 'reschedule' && <RescheduleDialog {...dialog} />}
      {open === 'withdraw' && <WithdrawDialog {...dialog} />}
    </article>
  );
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
      <strong>{timeInWords(launchAt, zone)}</strong>, {timeZoneInWords(zone, new Date(launchAt))}
    </>
  );
  return (
    <div className="maker-status" data-status={status} role="status">
      <span className="maker-status-word">{WORDS[status]}</span>
      {status === 'waiting' && (
        <p>
          A person will look at it.{' '}
          {when ? <>Once approved, it launches on {when}.</> : 'Once approved, it launches at once.'}
        </p>
      )}
      {status === 'scheduled' && (when ? <p>It launches on {when}.</p> : <p>It launches in a moment.</p>)}
      {status === 'declined' && (
        <>
          <p>It is not on the list.{editable && ' You can change it and send it again.'}</p>
          {reason && <blockquote dir="auto">{reason}</blockquote>}
        </>
      )}
      {status === 'withdrawn' && <p>You withdrew it, and it will not launch. You can submit the product again.</p>}
    </div>
  );
}
