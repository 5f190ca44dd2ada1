import { useSyncExternalStore } from 'react';

export interface Toast {
  id: number;
  title: string;
  description: string;
  tone: 'neutral' | 'destructive';
  /** What can be done about it, e.g. 'Undo'; the toast goes when it is pressed. */
  action?: { label: string; onPress: () => void };
}

const LIMIT = 3;
const NONE: readonly Toast[] = [];
let toasts: readonly Toast[] = NONE;
let nextId = 1;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Says something in passing. Only the latest few are kept: quick clicks must not fill the screen. */
export function showToast(toast: Omit<Toast, 'id' | 'tone'> & { tone?: Toast['tone'] }): void {
  set([...toasts, { tone: 'neutral' as const, ...toast, id: nextId++ }].slice(-LIMIT));
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
