import { useEffect, useLayoutEffect, useRef } from 'react';
import { isShortcutBlocked } from '../../web/ui/shortcuts.ts';
import { READING_MS } from './click-guard.ts';

/** The handlers by `KeyboardEvent.key`, with letters in lower case. */
export type Keys = Readonly<Record<string, ((event: KeyboardEvent) => void) | undefined>>;

/** The keys that repeat while held down. A repeated decision would apply to an item that the operator has not read. */
const REPEATED_KEYS = new Set(['j', 'k', 'ArrowDown', 'ArrowUp']);

/** For each key, the selector of the elements that handle it themselves while they have the focus. */
const OWNERS: Readonly<Record<string, string>> = {
  Enter: 'a, button, summary',
  ' ': 'a, button, summary',
  ArrowDown: '[type=radio]',
  ArrowUp: '[type=radio]',
};

/** Handles single-key shortcuts, unless `isShortcutBlocked` or the focused element handles the key itself. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;

  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (isShortcutBlocked(event)) return;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const run = latest.current[key];
      if (!run) return;
      const owner = OWNERS[event.key];
      if (owner !== undefined && event.target instanceof Element && event.target.matches(owner)) return;
      event.preventDefault();
      if (!event.repeat || REPEATED_KEYS.has(key)) run(event);
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}

/**
 * Pauses the keys that act on `items`. If one of these is gone, keys are ignored for `READING_MS`, because they would
 * act on another item, which the operator has not read.
 * @returns a function that returns whether keys are ignored now.
 */
export function useKeyGuard<Item>(items: readonly Item[], isGone: (item: Item) => boolean): () => boolean {
  const before = useRef(items);
  const pausedAt = useRef(Number.NEGATIVE_INFINITY);

  useLayoutEffect(() => {
    if (before.current.some(isGone)) pausedAt.current = performance.now();
    before.current = items;
  });

  return () => performance.now() - pausedAt.current < READING_MS;
}

/** Handles the second key of a sequence in the capture phase, before the shortcuts of the screen. */
export function useSequence(isPending: () => boolean, run: (key: string) => void): void {
  const latest = useRef({ isPending, run });
  latest.current = { isPending, run };

  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      // Space is left to the focused button or checkbox.
      const isLetter = event.key.length === 1 && event.key !== ' ';
      if (!isLetter || isShortcutBlocked(event) || !latest.current.isPending()) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (!event.repeat) latest.current.run(event.key.toLowerCase());
    }
    window.addEventListener('keydown', onKeyDown, true);
    return () => window.removeEventListener('keydown', onKeyDown, true);
  }, []);
}

/** Handles Ctrl-K or Cmd-K, also in text fields, unless a dialog is open. */
export function usePaletteKey(open: () => void): void {
  const latest = useRef(open);
  latest.current = open;

  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k')
        return;
      event.preventDefault();
      if (!document.querySelector('dialog[open]')) latest.current();
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}
