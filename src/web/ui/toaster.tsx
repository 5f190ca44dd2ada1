import { useEffect, useState } from 'react';
import { dismissToast, type Toast, useToasts } from '../lib/toasts.ts';
import { CloseIcon } from './icons.tsx';

const STAYS_MS = { neutral: 5_000, destructive: 10_000 } as const;

/** Both live regions are there from the start: what is added to them later is read out. */
export function Toaster() {
  const toasts = useToasts();
  return (
    <section className="toaster" aria-label="Messages">
      <div role="status" aria-live="polite">
        {toasts.map((toast) => toast.tone === 'neutral' && <ToastCard key={toast.id} toast={toast} />)}
      </div>
      <div role="alert" aria-live="assertive">
        {toasts.map((toast) => toast.tone === 'destructive' && <ToastCard key={toast.id} toast={toast} />)}
      </div>
    </section>
  );
}

function ToastCard({ toast }: { toast: Toast }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    // Whoever points at it is still reading it.
    if (held) return;
    const timer = setTimeout(() => dismissToast(toast.id), STAYS_MS[toast.tone]);
    return () => clearTimeout(timer);
  }, [held, toast.id, toast.tone]);

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
      <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => dismissToast(toast.id)}>
        <CloseIcon />
      </button>
    </div>
  );
}
