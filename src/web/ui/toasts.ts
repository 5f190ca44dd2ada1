import { useSyncExternalStore } from 'react';
import { t } from '../language/translate.ts';

export interface Toast {
  id: number;
  title: string;
  description: string;
  tone: 'neutral' | 'destructive';
  /** A newer toast with the same subject replaces this one, for example after quick clicks on a button. */
  subject?: string;
  /** A button, e.g. 'Undo'. Pressing it closes the toast. */
  action?: { label: string; onPress: () => void };
}

const LIMIT = 3;
const NONE: readonly Toast[] = [];
/** All visible toasts. They are not in a component's state, because code outside React also shows toasts. */
let toasts: readonly Toast[] = NONE;
let nextId = 1;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/**
 * Shows a message for 5 s, or for 10 s if it reports an error or has an action. Only the latest three toasts are
 * visible, and only the latest one for each subject.
 * @returns the toast's id, for `dismissToast`.
 */
export function showToast(toast: Omit<Toast, 'id' | 'tone'> & { tone?: Toast['tone'] }): number {
  const others = toasts.filter(({ subject }) => subject === undefined || subject !== toast.subject);
  set([...others, { tone: 'neutral' as const, ...toast, id: nextId }].slice(-LIMIT));
  return nextId++;
}

/** The subject of toasts for code or data that could not be loaded. The list of toasts adds a button to them. */
export const LOAD_FAILURE = 'load';

/** Tells the visitor that code or data could not be loaded on demand. */
export function showLoadFailure(): void {
  showToast({
    title: t('Error'),
    description: t('Loading failed. Please try again.'),
    tone: 'destructive',
    subject: LOAD_FAILURE,
  });
}

export function dismissToast(id: number): void {
  set(toasts.filter((toast) => toast.id !== id));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(
    subscribe,
    () => toasts,
    () => NONE,
  );
}
