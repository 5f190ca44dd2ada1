import { type ClipboardEvent, type DragEvent, type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import { MAKER_FIELDS, type MakerText } from '../../../contract/products/fields.ts';
import { plural, t } from '../../language/translate.ts';
import { CardPreview } from './card-preview.tsx';
import { type Draft, fieldWith, toProduct } from './draft.ts';
import { errorOf, TextField } from './fields.tsx';
import { LaunchField } from './launch-field.tsx';
import { PictureField } from './picture-field.tsx';
import stylesHref from './submissions.css?url';
import type { Failure } from './submissions-client.ts';
import { TagField } from './tag-field.tsx';
import { TeamField } from './team-field.tsx';
import type { SubmissionForm as Form } from './use-submission-form.ts';

interface SubmissionFormProps {
  form: Form;
  /** Whether the launch time can change without another review. Default: false. */
  isApproved?: boolean;
  siteTimeZone: string;
  labels: { submit: string; sending: string };
  children?: ReactNode;
}

/** The form for a new or an edited product. */
export function SubmissionForm({ form, isApproved = false, siteTimeZone, labels, children }: SubmissionFormProps) {
  const { element, draft, pictures, errors, invalidAttempts, replacements, failure, isSending, progress, set } = form;
  const button = useRef<HTMLButtonElement>(null);
  const trap = useRef<HTMLInputElement>(null);

  // Focuses the first invalid field after it has been marked, so screen readers also read its error message.
  useEffect(() => {
    if (invalidAttempts > 0) element.current?.querySelector<HTMLElement>(INVALID)?.focus();
  }, [element, invalidAttempts]);

  // Moves the focus to the button, because the fields become inert while the form is being sent.
  useEffect(() => {
    if (isSending) button.current?.focus({ preventScroll: true });
  }, [isSending]);

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    void form.submit(trap.current?.value ?? '');
  }

  /**
   * Adds pasted files, and files that are dropped outside of the drop zones, which the browser would otherwise open in
   * place of the page.
   */
  function addDataTransfer(event: ClipboardEvent | DragEvent, { files, types }: DataTransfer): void {
    // Ignores pictures that come with formatted text, because office programs copy a picture of the text. File managers
    // copy a file with its name as plain text.
    const isText = event.type === 'paste' && (types.includes('text/html') || types.includes('text/rtf'));
    if (files.length === 0 || isText) return;
    event.preventDefault();
    if (!isSending) form.addFiles([...files], pictures.image ? 'screenshots' : 'image');
  }

  const text = (field: MakerText) => ({
    field,
    value: draft[field],
    error: errorOf(errors, field),
    onChange: (value: string) => set({ [field]: value } as Partial<Draft>),
  });
  const errorsWithoutField = errors.filter((error) => !FORM_FIELDS.includes(fieldWith(error)));

  return (
    <form
      ref={element}
      className="submission"
      noValidate
      onSubmit={onSubmit}
      onPaste={(event) => addDataTransfer(event, event.clipboardData)}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes('Files')) event.preventDefault();
      }}
      onDrop={(event) => addDataTransfer(event, event.dataTransfer)}
    >
      {/* Inert while the form is being sent, because changes would be lost. */}
      <div className="submission-fields" inert={isSending}>
        <TextField {...text('name')} label={t('Name')} required />
        <TextField
          {...text('description')}
          label={t('Description')}
          rows={4}
          hint={t('Cards show the first two lines.')}
        />
        <PictureField
          pictures={pictures}
          isSending={isSending}
          errors={{ image: errorOf(errors, 'image'), screenshots: errorOf(errors, 'screenshots') }}
          onAdd={form.addFiles}
          onChange={form.setPictures}
        />
        <TagField tags={draft.tags} error={errorOf(errors, 'tags')} onChange={(tags) => set({ tags })} />
        <div className="submission-pair">
          <TextField {...text('category')} label={t('Category')} />
          <TextField {...text('maker')} label={t('Maker')} hint={t('You, or your company.')} />
        </div>
        <TeamField team={draft.team} error={errorOf(errors, 'team')} onChange={(team) => set({ team })} />
        <LaunchField
          // Remounts the field when the draft is replaced, because the field has its own state.
          key={replacements}
          launchAt={draft.launchAt}
          isApproved={isApproved}
          siteTimeZone={siteTimeZone}
          error={errorOf(errors, 'launchAt')}
          onChange={(launchAt) => set({ launchAt })}
        />
        {/* A honeypot: people cannot see or reach this field, but bots fill in every field. */}
        <input
          ref={trap}
          className="visually-hidden"
          type="text"
          name="website"
          tabIndex={-1}
          autoComplete="off"
          aria-hidden="true"
        />
      </div>
      <aside className="submission-aside">
        <p className="submission-aside-title">{t('As the list shows it')}</p>
        <CardPreview product={toProduct(draft, pictures.image?.src ?? '', Date.now())} />
        {children}
      </aside>
      <div className="submission-foot">
        <FailureNote
          failure={
            failure ??
            (errors.length > 0
              ? {
                  title: summary(new Set(errors.map(fieldWith)).size),
                  detail: errorsWithoutField.map(({ detail }) => detail).join(' '),
                }
              : null)
          }
        />
        <div className="submission-sending" role="status">
          {progress && (
            <p>
              {t('Sending picture {number} of {total}', {
                number: Math.min(progress.total, Math.floor(progress.sent) + 1),
                total: progress.total,
              })}
            </p>
          )}
          {isSending && !progress && <p className="visually-hidden">{labels.sending}</p>}
        </div>
        {progress && <progress aria-label={t('Pictures sent')} value={progress.sent} max={progress.total} />}
        <button
          ref={button}
          type="submit"
          className="button submission-submit"
          data-tone="primary"
          aria-disabled={isSending}
        >
          {isSending ? labels.sending : labels.submit}
        </button>
      </div>
    </form>
  );
}

/** Says that the form shows an earlier draft, with a button that discards it. */
export function RestoredNote({ form, onStartOver }: { form: Form; onStartOver: () => void }) {
  function startOver(): void {
    if (form.isSending) return;
    onStartOver();
    form.element.current?.querySelector('input')?.focus();
  }

  return (
    <p className="submission-restored" role="status">
      {`${t('Your draft is as you left it; only pictures have to be added again.')} `}
      <button type="button" className="text-button" onClick={startOver}>
        {t('Start over')}
      </button>
    </p>
  );
}

/** Selects invalid controls. A file input is not marked as invalid itself, but the group that contains it is. */
const INVALID = '[aria-invalid="true"], [data-invalid="true"] input[type="file"]';

const FORM_FIELDS = [...MAKER_FIELDS, 'launchAt', 'image', 'screenshots'];

function summary(count: number): string {
  return plural('One field needs another look.', '{count} fields need another look.', count);
}

/** Shows why a request failed. Screen readers announce it immediately. */
export function FailureNote({ failure }: { failure: Failure | null }) {
  return (
    <div role="alert">
      {failure && (
        <div className="submission-failure">
          <p className="submission-failure-title">{failure.title}</p>
          {failure.detail && <p>{failure.detail}</p>}
          {failure.reason && <blockquote dir="auto">{failure.reason}</blockquote>}
        </div>
      )}
    </div>
  );
}

/**
 * The style sheet of submissions. Only pages with submissions load it. React does not show the content next to this
 * link before the style sheet has loaded.
 */
export function SubmissionStyles() {
  return <link rel="stylesheet" href={stylesHref} precedence="submissions" />;
}
