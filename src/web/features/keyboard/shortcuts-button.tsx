import { useEffect, useRef } from 'react';
import { isBusyElsewhere } from '../../lib/keyboard.ts';
import { useLateDialog } from '../../lib/late-dialog.ts';

const load = () => import('./shortcuts-dialog.tsx').then((module) => module.ShortcutsDialog);

/** Opens the list of shortcuts, as the key `?` does. */
export function ShortcutsButton() {
  const { Dialog, open, close, props } = useLateDialog(load);
  const openNow = useRef(open);
  useEffect(() => {
    openNow.current = open;
  });

  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (event.key !== '?' || isBusyElsewhere(event)) return;
      event.preventDefault();
      void openNow.current();
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);

  return (
    <>
      <button type="button" className="text-button shortcuts-button" {...props}>
        Keyboard shortcuts
      </button>
      {Dialog && <Dialog onClose={close} />}
    </>
  );
}
