import { useEffect, useRef } from 'react';
import { isShortcutBlocked } from '../../web/ui/shortcuts.ts';

/** The handler of each key, by `KeyboardEvent.key` in lower case. */
export type Keys = Readonly<Record<string, ((event: KeyboardEvent) => void) | undefined>>;

/** Handles single-key shortcuts, except while a text field has the focus or a dialog is open. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;

  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (isShortcutBlocked(event)) return;
      const run = latest.current[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!run) return;
      // Space and Enter press a focused button.
      if ((event.key === 'Enter' || event.key === ' ') && event.target instanceof HTMLButtonElement) return;
      event.preventDefault();
      run(event);
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}

/** Handles the second key of a sequence in the capture phase, before the shortcuts of the screen. */
export function useSequence(isPending: () => boolean, run: (key: string) => void): void {
  const latest = useRef({ isPending, run });
  latest.current = { isPending, run };

  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (isShortcutBlocked(event) || event.key.length !== 1 || !latest.current.isPending()) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      latest.current.run(event.key.toLowerCase());
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
