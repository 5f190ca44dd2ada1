import { type MouseEvent, type PointerEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import type { Product } from '../../contract/products/schema.ts';
import { t } from '../language/translate.ts';
import { CloseIcon } from './icons.tsx';
import { hasModifier, Link } from './link.tsx';
import { Picture } from './picture.tsx';

interface ModalProps {
  title: ReactNode;
  /** If it is set, the dialog closes when it changes. Otherwise, a dialog of the header would stay open after Back. */
  location?: unknown;
  onClose: () => void;
  children: ReactNode;
}

/**
 * A modal dialog with a title. It traps the focus and returns it to the button that opened the dialog. Escape and a
 * click outside close the dialog.
 */
export function Modal({ title, location, onClose, children }: ModalProps) {
  const { dialog, outside } = useModalDialog(location);
  const titleId = useId();

  return (
    <dialog ref={dialog} className="modal" aria-labelledby={titleId} onClose={onClose} {...outside}>
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

/**
 * Opens a dialog as modal, and closes it when `location` changes. `outside` contains the handlers that close the dialog
 * on a click outside its content.
 */
export function useModalDialog(location?: unknown) {
  const dialog = useRef<HTMLDialogElement>(null);
  const pressed = useRef<EventTarget>(null);
  const openedAt = useRef(location);

  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);

  // A layout effect runs before the heading of the other page takes the focus. See `closeOnNavigation`.
  useLayoutEffect(() => {
    if (location !== openedAt.current) dialog.current?.close();
  }, [location]);

  function onPointerDown(event: PointerEvent): void {
    pressed.current = event.target;
  }

  function onClick(event: MouseEvent): void {
    // The dialog element is the target of a click outside its content, but also of a text selection that ends there.
    if (event.target === dialog.current && pressed.current === dialog.current) dialog.current.close();
  }

  return { dialog, outside: { onPointerDown, onClick } };
}

/**
 * Returns whether the dialog that contains an element is open. A closed dialog may stay mounted until the page below it
 * is rendered.
 */
export function isDialogOpen(element: Element | null): boolean {
  return element?.closest('dialog')?.open === true;
}

/**
 * Closes a dialog when a link in it is clicked. The dialog must close before the navigation, because the heading of the
 * new page takes the focus, and elements behind an open dialog cannot be focused.
 */
export function closeOnNavigation(event: MouseEvent): void {
  if (hasModifier(event)) return;
  if (event.target instanceof Element && event.target.closest('a')) event.currentTarget.closest('dialog')?.close();
}

interface ProductRowProps {
  product: Pick<Product, 'name' | 'image'>;
  /** The URL of the product's page. Unset if the product is no longer on the site. */
  to?: string | undefined;
  /** The line below the name. Its space is reserved while the state is still loading. */
  state: ReactNode;
  /** Shown after the text, e.g. a button. */
  children?: ReactNode;
}

/** A product in the list of a dialog. */
export function ProductRow({ product: { name, image }, to, state, children }: ProductRowProps) {
  return (
    <li className="saved-row">
      <Picture className="saved-picture" src={image} alt="" name={name} width={48} height={48} />
      <div>
        {to === undefined ? (
          <p className="saved-name" dir="auto">
            {name}
          </p>
        ) : (
          <Link className="saved-name" dir="auto" to={to}>
            {name}
          </Link>
        )}
        <p className="saved-state">{state}</p>
      </div>
      {children}
    </li>
  );
}
