import { useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react';
import { isShortcutBlocked } from '../../web/ui/shortcuts.ts';
import { IGNORE_INPUT_MS } from './click-guard.ts';

/** The handlers by `KeyboardEvent.key`, with letters in lower case. */
export type Keys = Readonly<Record<string, ((event: KeyboardEvent) => void) | undefined>>;

/** The keys that repeat while held down. A repeated decision would apply to an item that the operator has not read. */
const REPEATED_KEYS = new Set(['j', 'k', 'ArrowDown', 'ArrowUp']);

/** For each key, a selector of the elements that handle the key themselves while they have the focus. */
const OWNERS: Readonly<Record<string, string>> = {
  Enter: 'a, button, summary',
  ' ': 'a, button, summary',
  ArrowDown: '[type=radio]',
  ArrowUp: '[type=radio]',
};

function useKeyDown(run: (event: KeyboardEvent) => void, isCapture = false): void {
  const onKeyDown = useEffectEvent(run);
  useEffect(() => {
    window.addEventListener('keydown', onKeyDown, isCapture);
    return () => window.removeEventListener('keydown', onKeyDown, isCapture);
  }, [isCapture]);
}

/** Handles single-key shortcuts, unless they are blocked or the focused element handles the key itself. */
export function useKeys(keys: Keys): void {
  useKeyDown((event) => {
    if (isShortcutBlocked(event)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const run = keys[key];
    if (!run) return;
    const owner = OWNERS[event.key];
    if (owner !== undefined && event.target instanceof Element && event.target.matches(owner)) return;
    event.preventDefault();
    if (!event.repeat || REPEATED_KEYS.has(key)) run(event);
  });
}

/**
 * Pauses the keys that act on `items` for `IGNORE_INPUT_MS` after `isGone` is true for one of them. A key press would
 * otherwise act on another item or version, which the operator has not read.
 * @returns a function that returns whether the keys are paused now.
 */
export function useKeyGuard<Item>(items: readonly Item[], isGone: (item: Item) => boolean): () => boolean {
  const before = useRef(items);
  const pausedAt = useRef(Number.NEGATIVE_INFINITY);

  useLayoutEffect(() => {
    if (before.current.some(isGone)) pausedAt.current = performance.now();
    before.current = items;
  });

  return () => performance.now() - pausedAt.current < IGNORE_INPUT_MS;
}

/** Handles the second key of a sequence in the capture phase, before the shortcuts of the screen. */
export function useSequence(isPending: () => boolean, run: (key: string) => void): void {
  useKeyDown((event) => {
    // The focused button or checkbox handles Space itself.
    const isLetter = event.key.length === 1 && event.key !== ' ';
    if (!isLetter || isShortcutBlocked(event) || !isPending()) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!event.repeat) run(event.key.toLowerCase());
  }, true);
}

/** Handles Ctrl-K or Cmd-K, even in text fields, unless a dialog is open. */
export function usePaletteKey(open: () => void): void {
  useKeyDown((event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k') return;
    event.preventDefault();
    if (!document.querySelector('dialog[open]')) open();
  });
}
