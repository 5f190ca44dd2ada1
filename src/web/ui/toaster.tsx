import { type FocusEvent, useEffect, useRef, useState } from 'react';
import { dismissToast, type Toast, useToasts } from '../lib/toasts.ts';
import { CloseIcon } from './icons.tsx';

const STAYS_MS = { neutral: 5_000, destructive: 10_000 } as const;

/** Long enough to get to it by keyboard. */
const ACTIONABLE_STAYS_MS = 10_000;

/** Both live regions are there from the start: what is added to them later is read out. */
export function Toaster() {
  const toasts = useToasts();
  const cameFrom = useRef<Element | null>(null);

  function onFocus({ currentTarget, relatedTarget }: FocusEvent): void {
    if (!currentTarget.contains(relatedTarget)) cameFrom.current = relatedTarget;
  }

  function close(id: number): void {
    dismissToast(id);
    const isInside = document.activeElement?.closest('.toaster');
    // The button that was pressed goes with its toast; the focus goes back to where it was before.
    if (isInside && cameFrom.current instanceof HTMLElement) cameFrom.current.focus({ preventScroll: true });
  }

  const card = (toast: Toast) => <ToastCard key={toast.id} toast={toast} onClose={() => close(toast.id)} />;
  return (
    <section className="toaster" aria-label="Messages" onFocus={onFocus}>
      <div role="status" aria-live="polite">
        {toasts.map((toast) => toast.tone === 'neutral' && card(toast))}
      </div>
      <div role="alert" aria-live="assertive">
        {toasts.map((toast) => toast.tone === 'destructive' && card(toast))}
      </div>
    </section>
  );
}

function ToastCard({ toast, onClose }: { toast: Toast; onClose: () => void }) {
  const [held, setHeld] = useState(false);
  const { action } = toast;
  const staysMs = action ? ACTIONABLE_STAYS_MS : STAYS_MS[toast.tone];
  useEffect(() => {
    // Whoever points at it is still reading it.
    if (held) return;
    const timer = setTimeout(() => dismissToast(toast.id), staysMs);
    return () => clearTimeout(timer);
  }, [held, toast.id, staysMs]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pointing at a message only keeps it from leaving
    <div
      className="toast"
      data-tone={toast.tone}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
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
      <button type="button" className="icon-button" aria-label="Dismiss" onClick={onClose}>
        <CloseIcon />
      </button>
    </div>
  );
}
