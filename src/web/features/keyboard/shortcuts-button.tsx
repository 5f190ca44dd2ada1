import { t } from '../../language/translate.ts';
import { useDeferredDialog } from '../../ui/deferred-dialog.ts';
import { useShortcut } from '../../ui/shortcuts.ts';

const load = () => import('./shortcuts-dialog.tsx').then((module) => module.ShortcutsDialog);

/** A button that opens the list of shortcuts, as the key `?` does. */
export function ShortcutsButton() {
  const { Dialog, open, close, props } = useDeferredDialog(load);
  useShortcut('?', (event) => {
    event.preventDefault();
    void open();
  });

  return (
    <>
      <button type="button" className="text-button shortcuts-button" {...props}>
        {t('Keyboard shortcuts')}
      </button>
      {Dialog && <Dialog onClose={close} />}
    </>
  );
}
