import { useEffect, useRef } from 'react';
import { isShortcutBlocked } from '../../web/ui/shortcuts.ts';

/** The handler of each key, by `KeyboardEvent.key` in lower case. */
export type Keys = Readonly<Record<string, ((event: KeyboardEvent) => void) | undefined>>;

/** Runs single keys while no text field or dialog has the focus. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;

  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (isShortcutBlocked(event)) return;
      const run = latest.current[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!run) return;
      // Space and Enter activate the focused element.
      if ((event.key === 'Enter' || event.key === ' ') && event.target instanceof HTMLButtonElement) return;
      event.preventDefault();
      run(event);
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}
