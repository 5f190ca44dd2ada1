import { type FormEvent, type ReactNode, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { MAX_REASON_CHARACTERS } from '../../contract/console/records.ts';
import { isVisible } from '../../contract/text.ts';
import { isDialogOpen, Modal } from '../../web/ui/modal.tsx';
import { showToast } from '../../web/ui/toasts.ts';
import { useUndoable } from '../api/actions.ts';
import { describeFailure, messageOf } from '../api/console-api.ts';
import { FocusableButton } from './focusable-button.tsx';

/** Lets an operation on many items report its progress and check whether its dialog was closed. */
export interface Progress {
  show: (text: string) => void;
  isCancelled: () => boolean;
}

interface FormDialogProps {
  title: string;
  /** The label of the button that submits the form. */
  label: string;
  isDisabled?: boolean;
  /** The fields, and anything that the operator should know before submitting. */
  children: ReactNode;
  onClose: () => void;
  /** Runs the operation. @throws Error if it fails. */
  onSubmit: (progress: Progress) => Promise<unknown>;
}

/**
 * Shows an operation's error in its dialog, because an open dialog covers toasts. After the dialog has closed, shows a
 * toast instead. `within` is an element of the dialog.
 * @returns the element that shows the error, and functions that show an error, clear it, and return whether the dialog
 * is open.
 */
export function useDialogError(within: RefObject<HTMLElement | null>) {
  const [shown, setShown] = useState<string>();
  const isOpen = () => isDialogOpen(within.current);
  return {
    element: shown !== undefined && (
      <p className="gate-error" role="alert">
        {shown}
      </p>
    ),
    isOpen,
    clear: () => setShown(undefined),
    show(title: string, error: unknown) {
      if (isOpen()) setShown(`${title}. ${messageOf(error)}`);
      else showToast({ title, description: messageOf(error), tone: 'destructive' });
    },
  };
}

/**
 * A dialog with the form of an operation. The first text or date field gets the focus. Enter submits, and Escape
 * cancels. The dialog closes when the operation has succeeded. If the operation fails, it stays open with its input.
 */
export function FormDialog({ title, label, isDisabled = false, children, onClose, onSubmit }: FormDialogProps) {
  const form = useRef<HTMLFormElement>(null);
  const [isSending, setSending] = useState(false);
  const [progress, setProgress] = useState('');
  const error = useDialogError(form);
  const undoable = useUndoable();

  // The browser focuses the first button of a dialog that opens. An `autofocus` attribute would make it focus the field
  // instead, but React does not render this attribute.
  useEffect(
    () => form.current?.querySelector<HTMLElement>('input:not([type="checkbox"], [type="radio"])')?.focus(),
    [],
  );

  /** Closes the dialog, which returns the focus. Unmounting an open dialog would lose the focus. */
  const close = () => form.current?.closest('dialog')?.close();

  async function send(event: FormEvent): Promise<void> {
    event.preventDefault();
    setSending(true);
    error.clear();
    try {
      await onSubmit({ show: setProgress, isCancelled: () => !error.isOpen() });
      close();
    } catch (failure) {
      setSending(false);
      setProgress('');
      const { title, description } = describeFailure(failure);
      error.show(title, description);
    }
  }

  return (
    <Modal
      title={title}
      onClose={() => {
        undoable.unsentReason = undefined;
        onClose();
      }}
    >
      <form
        ref={form}
        className="form"
        onSubmit={(event) => void send(event)}
        // If Enter opened the dialog and is still held down, it must not submit the form.
        onKeyDown={(event) => event.repeat && event.key === 'Enter' && event.preventDefault()}
      >
        {children}
        {error.element}
        <div className="form-actions">
          {/* Always rendered, because screen readers announce only changes to an existing status element. */}
          <span className="quiet" role="status">
            {progress}
          </span>
          <button type="button" className="button" data-tone="quiet" onClick={close}>
            Cancel
          </button>
          <FocusableButton type="submit" data-tone="primary" isDisabled={isDisabled || isSending}>
            {label}
          </FocusableButton>
        </div>
      </form>
    </Modal>
  );
}

/**
 * Returns the state of the `ReasonField` of a `FormDialog`. If the dialog is unmounted without being closed, for
 * example because the session has ended, the next dialog for `operation` starts with the same reason. `operation`
 * contains the ids of the items, so the reason is not offered for other items.
 */
export function useReason(operation: string): [string, (reason: string) => void] {
  const undoable = useUndoable();
  const [unsent, setUnsent] = useState(undoable.unsentReason);
  return [
    unsent?.operation === operation ? unsent.text : '',
    (text) => {
      undoable.unsentReason = { operation, text };
      setUnsent(undoable.unsentReason);
    },
  ];
}

interface ReasonFieldProps {
  value: string;
  suggestions: readonly string[];
  isRequired?: boolean;
  onChange: (reason: string) => void;
}

/** A field for the reason for an operation, with buttons for common reasons. */
export function ReasonField({ value, suggestions, isRequired = false, onChange }: ReasonFieldProps) {
  const hint = useId();
  return (
    <>
      <label className="field">
        <span>Reason{isRequired ? '' : ' (optional)'}</span>
        <input
          value={value}
          maxLength={MAX_REASON_CHARACTERS}
          required={isRequired}
          // Without this check, the field would accept invisible text, which the server rejects.
          ref={(field) => field?.setCustomValidity(isRequired && !isVisible(value) ? 'Enter a reason.' : '')}
          autoComplete="off"
          aria-describedby={hint}
          onChange={(event) => onChange(event.target.value)}
        />
      </label>
      <p id={hint} className="quiet">
        If the moderation log is public, it shows this reason.
      </p>
      <div className="suggestions">
        {suggestions.map((suggestion) => (
          <button key={suggestion} type="button" className="tag" onClick={() => onChange(suggestion)}>
            {suggestion}
          </button>
        ))}
      </div>
    </>
  );
}

interface ReasonDialogProps extends Pick<FormDialogProps, 'title' | 'label' | 'onClose'> {
  /** The ids of the items of the operation. */
  ids: readonly string[];
  note: ReactNode;
  suggestions: readonly string[];
  isRequired?: boolean;
  onSubmit: (reason: string, progress: Progress) => Promise<unknown>;
}

/** A dialog that asks for the reason for an operation. */
export function ReasonDialog({ ids, note, suggestions, isRequired = false, onSubmit, ...dialog }: ReasonDialogProps) {
  const [reason, setReason] = useReason(`${dialog.label} ${ids.join(' ')}`);
  return (
    <FormDialog {...dialog} onSubmit={(progress) => onSubmit(reason.trim(), progress)}>
      <p>{note}</p>
      <ReasonField value={reason} suggestions={suggestions} isRequired={isRequired} onChange={setReason} />
    </FormDialog>
  );
}
