import type { PlainMessage } from '../../language/catalogue.ts';
import { arrowKeys, t } from '../../language/translate.ts';
import { useLocation } from '../../routing/router.tsx';
import { Modal } from '../../ui/modal.tsx';
import { setShortcuts, useShortcuts } from '../../ui/shortcuts.ts';

interface Shortcut {
  /** 'previous' and 'next' stand for arrow keys, which are swapped on right-to-left pages. */
  keys: readonly string[];
  does: PlainMessage;
}

const SHORTCUTS: readonly Shortcut[] = [
  { keys: ['/'], does: 'Search products' },
  { keys: ['previous', 'next'], does: 'Previous and next product, on a product’s page' },
  { keys: ['?'], does: 'This list' },
];

/** Keys that are always active, because they work only in an open dialog or menu or in a field. */
const ALWAYS: readonly Shortcut[] = [
  { keys: ['Esc'], does: 'Clear the search; close a dialog or menu' },
  { keys: ['previous', 'next'], does: 'Previous and next screenshot, in the viewer' },
  { keys: ['Ctrl', 'Enter'], does: 'Post the comment that you are writing' },
];

const SYMBOLS: Record<string, string> = { ArrowLeft: '←', ArrowRight: '→' };

const SPOKEN: Record<string, PlainMessage> = {
  '/': 'Slash',
  '?': 'Question mark',
  ArrowLeft: 'Left arrow',
  ArrowRight: 'Right arrow',
  Esc: 'Escape',
  Ctrl: 'Control',
};

/** The list of shortcuts. Single-key shortcuts can be turned off if they interfere (WCAG 2.1.4). */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const isOn = useShortcuts();
  const location = useLocation();
  return (
    <Modal title={t('Keyboard shortcuts')} location={location} onClose={onClose}>
      <label className="shortcuts-switch">
        <input type="checkbox" checked={isOn} onChange={() => setShortcuts(!isOn)} />
        <span className="shortcuts-switch-track" aria-hidden="true" />
        <span>{t('Single-key shortcuts')}</span>
      </label>
      <dl className="shortcuts" data-off={!isOn}>
        {SHORTCUTS.map(Row)}
      </dl>
      <h3 className="shortcuts-title">{t('Always on')}</h3>
      <dl className="shortcuts">{ALWAYS.map(Row)}</dl>
    </Modal>
  );
}

function Row({ keys, does }: Shortcut) {
  const arrows: Record<string, string> = arrowKeys();
  return (
    <div key={does}>
      <dt>{t(does)}</dt>
      <dd>
        {keys
          .map((key) => arrows[key] ?? key)
          .map((key) => (
            <kbd key={key} className="shortcuts-key">
              <span aria-hidden="true">{SYMBOLS[key] ?? key}</span>
              <span className="visually-hidden">{`${SPOKEN[key] ? t(SPOKEN[key]) : key} `}</span>
            </kbd>
          ))}
      </dd>
    </div>
  );
}
