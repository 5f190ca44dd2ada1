import { Modal } from '../../web/ui/modal.tsx';
import { setShortcuts, useShortcuts } from '../../web/ui/shortcuts.ts';
import { SCREENS } from './screens.tsx';

type Keys = readonly (readonly [string, string])[];

/** The shortcut of the command palette. It uses Ctrl, so it stays active when single-key shortcuts are turned off. */
const PALETTE: Keys = [['Ctrl K', 'Jump to a screen, a product or a command']];

const EVERYWHERE: Keys = [
  ['/', 'Search the list'],
  ['U', 'Undo the last change'],
  ['?', 'These shortcuts'],
];

const LISTS: Keys = [
  ['J  K  ↓  ↑', 'Next, previous'],
  ['X', 'Select'],
  ['Shift X', 'Select all from the last selected row to here'],
  ['Enter', 'Press the focused button, or open the item'],
  ['Esc', 'Clear the selection'],
  ['A', 'Approve a submission; release or restore comments; restore products'],
  ['D', 'Decline a submission; hide comments; remove products; list the votes of a burst; undo an entry'],
  ['E', 'Edit a product'],
  ['S', 'Schedule a submission'],
];

/** The list of shortcuts. Single-key shortcuts can be turned off if they interfere (WCAG 2.1.4). */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const isOn = useShortcuts();
  const screens = SCREENS.map(({ key, label }) => [`G ${key.toUpperCase()}`, label] as const);
  const sections: readonly (readonly [string, Keys])[] = isOn
    ? [
        ['Everywhere', [...PALETTE, ...EVERYWHERE]],
        ['In lists', LISTS],
        ['Screens', screens],
      ]
    : [['Everywhere', PALETTE]];
  return (
    <Modal title="Keyboard shortcuts" onClose={onClose}>
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={() => setShortcuts(!isOn)} />
        Single-key shortcuts, here and on the site
      </label>
      {sections.map(([title, keys]) => (
        <section key={title}>
          <h3 className="shortcuts-title">{title}</h3>
          <dl className="shortcuts">
            {keys.map(([key, what]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Modal>
  );
}
