import { type FocusEvent, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { t } from '../language/translate.ts';
import { CloseIcon } from './icons.tsx';
import { dismissToast, LOAD_FAILURE, type Toast, useToasts } from './toasts.ts';

const DURATION_MS = { neutral: 5_000, destructive: 10_000 } as const;

/** The duration of a toast with an action: long enough to reach the action by keyboard. */
const ACTIONABLE_DURATION_MS = 10_000;

export interface ToastListProps {
  tone: Toast['tone'];
}

export function ToastList({ tone }: ToastListProps) {
  const toasts = useToasts().filter((toast) => toast.tone === tone);
  const cameFrom = useRef<EventTarget | null>(null);

  function onFocus({ relatedTarget }: FocusEvent): void {
    if (!isInToast(relatedTarget)) cameFrom.current = relatedTarget;
  }

  function close(id: number): void {
    dismissToast(id);
    // The pressed button disappears with its toast, so the focus returns to the previous element.
    if (isInToast(document.activeElement) && cameFrom.current instanceof HTMLElement) {
      cameFrom.current.focus({ preventScroll: true });
    }
  }

  return toasts.map((toast) => (
    <ToastCard key={toast.id} toast={toast} onFocus={onFocus} onClose={() => close(toast.id)} />
  ));
}

interface ToastCardProps {
  toast: Toast;
  onFocus: (event: FocusEvent) => void;
  onClose: () => void;
}

function ToastCard({ toast, onFocus, onClose }: ToastCardProps) {
  const [isHovered, setHovered] = useState(false);
  const [hasFocus, setFocus] = useState(false);
  const isHeld = isHovered || hasFocus;
  const isVisible = useSyncExternalStore(subscribeToVisibility, () => document.visibilityState === 'visible');
  const action = toast.subject === LOAD_FAILURE ? reload() : toast.action;
  const durationMs = action ? ACTIONABLE_DURATION_MS : DURATION_MS[toast.tone];
  useEffect(() => {
    // While the toast is held, for example because the pointer is over it, the visitor may still be reading it. In a
    // hidden tab, the visitor cannot see it.
    if (isHeld || !isVisible) return;
    const timer = setInterval(() => {
      // A modal dialog covers the toast, and makes its buttons inert.
      if (!document.querySelector('dialog:modal')) dismissToast(toast.id);
    }, durationMs);
    return () => clearInterval(timer);
  }, [isHeld, isVisible, toast.id, durationMs]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering over a toast only delays its removal
    <div
      className="toast"
      // Screen readers announce a new toast as a whole.
      aria-atomic
      data-tone={toast.tone}
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
      onFocus={(event) => {
        onFocus(event);
        setFocus(true);
      }}
      onBlur={() => setFocus(false)}
    >
      <div>
        <p className="toast-title">{toast.title}</p>
        <p className="toast-description">{toast.description}</p>
      </div>
      {action && (
        <button
          type="button"
          className="button toast-action"
          data-tone="outline"
          onClick={() => {
            onClose();
            action.onPress();
          }}
        >
          {action.label}
        </button>
      )}
      <button type="button" className="icon-button" aria-label={t('Dismiss')} onClick={onClose}>
        <CloseIcon />
      </button>
    </div>
  );
}

/** Trying again cannot succeed if a deployment has removed the code of this page. */
const reload = () => ({ label: t('Reload'), onPress: () => window.location.reload() });

function subscribeToVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}

function isInToast(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('.toaster') !== null;
}
