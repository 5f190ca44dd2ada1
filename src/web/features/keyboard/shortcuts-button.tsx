import { useEffect, useRef } from 'react';
import { t } from '../../language/translate.ts';
import { useDeferredDialog } from '../../ui/deferred-dialog.ts';
import { isShortcutBlocked } from '../../ui/shortcuts.ts';

const load = () => import('./shortcuts-dialog.tsx').then((module) => module.ShortcutsDialog);

/** A button that opens the list of shortcuts, as the key `?` does. */
export function ShortcutsButton() {
  const { Dialog, open, close, props } = useDeferredDialog(load);
  const openNow = useRef(open);
  useEffect(() => {
    openNow.current = open;
  });

  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (event.key !== '?' || isShortcutBlocked(event)) return;
      event.preventDefault();
      void openNow.current();
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);

  return (
    <>
      <button type="button" className="text-button shortcuts-button" {...props}>
        {t('Keyboard shortcuts')}
      </button>
      {Dialog && <Dialog onClose={close} />}
    </>
  );
}
