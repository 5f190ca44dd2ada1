import { type MouseEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { t } from '../language/translate.ts';
import { CloseIcon } from './icons.tsx';

interface ModalProps {
  title: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/**
 * The frame of a dialog, which traps the focus and returns it to the button that opened it. Escape and a click outside
 * close it.
 */
export function Modal({ title, onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();

  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);

  function onClick(event: MouseEvent): void {
    // The dialog itself is the target only outside its content.
    if (event.target === dialog.current) dialog.current.close();
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes the dialog, as Escape does by itself
    <dialog ref={dialog} className="modal" aria-labelledby={titleId} onClose={onClose} onClick={onClick}>
      <div className="modal-body">
        <div className="modal-head">
          <h2 id={titleId}>{title}</h2>
          <button type="button" className="icon-button" aria-label={t('Close')} onClick={() => dialog.current?.close()}>
            <CloseIcon />
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
