import { useSyncExternalStore } from 'react';
import { t } from '../language/translate.ts';

export interface Toast {
  id: number;
  title: string;
  description: string;
  tone: 'neutral' | 'destructive';
  /** A newer toast about the same subject replaces this one, e.g. after quick clicks on one button. */
  subject?: string;
  /** What the visitor can do about it, e.g. 'Undo'. Pressing the button closes the toast. */
  action?: { label: string; onPress: () => void };
}

const LIMIT = 3;
const NONE: readonly Toast[] = [];
/** The toasts of the window. Code outside of React shows them, too, so they are no state of a component. */
let toasts: readonly Toast[] = NONE;
let nextId = 1;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Shows a message for a few seconds. At most the latest three are on screen, and one for each subject. */
export function showToast(toast: Omit<Toast, 'id' | 'tone'> & { tone?: Toast['tone'] }): void {
  const others = toasts.filter(({ subject }) => subject === undefined || subject !== toast.subject);
  set([...others, { tone: 'neutral' as const, ...toast, id: nextId++ }].slice(-LIMIT));
}

/** Says that code which loads on demand could not be loaded. */
export function showLoadFailure(): void {
  showToast({ title: t('Error'), description: t('Loading failed.'), tone: 'destructive' });
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
