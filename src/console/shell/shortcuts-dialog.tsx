import { Modal } from '../../web/ui/modal.tsx';
import { SCREENS } from './screens.tsx';

const EVERYWHERE: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'Jump to a screen, a product or a command'],
  ['/', 'Search the list'],
  ['U', 'Undo the last change'],
  ['?', 'These shortcuts'],
];

const LISTS: readonly (readonly [string, string])[] = [
  ['J  K', 'Next, previous'],
  ['X', 'Select'],
  ['Shift X', 'Select all from the last selected row to here'],
  ['Enter', 'Press the focused button, or open the item'],
  ['Esc', 'Clear the selection'],
  ['A', 'Approve a submission; release or restore comments; restore products'],
  ['D', 'Decline a submission; hide comments; remove products; list the votes of a burst; undo an entry'],
  ['E', 'Edit a product'],
  ['S', 'Schedule a submission'],
];

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const screens = SCREENS.map(({ key, label }) => [`G ${key.toUpperCase()}`, label] as const);
  return (
    <Modal title="Keyboard shortcuts" onClose={onClose}>
      {(
        [
          ['Everywhere', EVERYWHERE],
          ['In lists', LISTS],
          ['Screens', screens],
        ] as const
      ).map(([title, keys]) => (
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
