import { type RefObject, useEffect } from 'react';
import { isBusyElsewhere } from '../../lib/keyboard.ts';

/** Moves the focus to a text field when a key is pressed anywhere outside of text fields and dialogs. */
export function useFocusKey(key: string, field: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (event.key !== key || isBusyElsewhere(event)) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [key, field]);
}
