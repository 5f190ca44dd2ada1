import { type ComponentType, useEffect, useState } from 'react';
import { t } from '../language/translate.ts';
import { loadOnVisit } from '../routing/lazy-screen.tsx';
import type { ToastListProps } from './toast-list.tsx';

/**
 * Shows toasts. Both live regions exist from the start, because screen readers announce only later additions. They are
 * not atomic, because a new toast would otherwise cause all visible toasts to be announced again.
 */
export function Toaster() {
  const [List, setList] = useState<ComponentType<ToastListProps> | null>(null);
  useEffect(() => {
    loadOnVisit(() => import('./toast-list.tsx')).then((module) => setList(() => module.ToastList));
  }, []);

  return (
    <section className="toaster" aria-label={t('Messages')}>
      <div role="status" aria-atomic={false}>
        {List && <List tone="neutral" />}
      </div>
      <div role="alert" aria-atomic={false}>
        {List && <List tone="destructive" />}
      </div>
    </section>
  );
}
