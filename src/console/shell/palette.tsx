import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { CONSOLE_API } from '../../contract/console/paths.ts';
import type { ConsolePage } from '../../contract/console/records.ts';
import type { Product } from '../../contract/products/schema.ts';
import { useModalDialog } from '../../web/ui/modal.tsx';
import { isComposing, useShortcuts } from '../../web/ui/shortcuts.ts';
import { useUndoLast } from '../api/actions.ts';
import { call, consoleKeys } from '../api/console-api.ts';
import { goTo, useConsoleLocation } from '../location.ts';
import { SCREENS } from './screens.tsx';

interface Command {
  id: string;
  label: string;
  hint: string;
  run: () => void;
}

interface Props {
  onClose: () => void;
  onSignOut: (everywhere: boolean) => void;
  onShortcuts: () => void;
}

const MAX_PRODUCTS = 6;

/** The command palette, which searches for screens, commands and products. Enter runs the selected entry. */
export function Palette({ onClose, onSignOut, onShortcuts }: Props) {
  const { dialog, outside } = useModalDialog(useConsoleLocation().traversals);
  const chosen = useRef<Command>(undefined);
  const listId = useId();
  const hasShortcuts = useShortcuts();
  const [text, setText] = useState('');
  /** The id of the active entry. */
  const [active, setActive] = useState<string>();
  const term = text.trim().toLowerCase();
  const products = useQuery({
    queryKey: consoleKeys.foundProducts(term),
    queryFn: ({ signal }) =>
      call<ConsolePage<Product>>(CONSOLE_API.products, {
        query: { q: term, limit: MAX_PRODUCTS, sort: 'top' },
        signal,
      }),
    enabled: term.length > 1,
    placeholderData: (before) => before,
  });

  const fixed: Command[] = [
    ...SCREENS.map(({ screen, label, key }) => ({
      id: screen,
      label,
      hint: hasShortcuts ? `G ${key.toUpperCase()}` : '',
      run: () => goTo(screen),
    })),
    { id: 'undo', label: 'Undo the last change', hint: hasShortcuts ? 'U' : '', run: useUndoLast() },
    { id: 'shortcuts', label: 'Keyboard shortcuts', hint: hasShortcuts ? '?' : '', run: onShortcuts },
    { id: 'site', label: 'Open the site', hint: '', run: () => window.open('/', '_blank', 'noopener') },
    { id: 'sign-out', label: 'Sign out', hint: '', run: () => onSignOut(false) },
    { id: 'sign-out-everywhere', label: 'Sign out everywhere', hint: '', run: () => onSignOut(true) },
  ];
  const matching = fixed.filter(({ label }) => label.toLowerCase().includes(term));
  const comments: Command = {
    id: 'search-comments',
    label: `Comments with “${text.trim()}”`,
    hint: '',
    run: () => goTo('comments', { q: text.trim() }),
  };
  const found: Command[] = (term.length > 1 ? (products.data?.items ?? []) : []).map(({ id, name, category }) => ({
    id: `product-${id}`,
    label: name,
    hint: category,
    run: () => goTo('products', { edit: id }),
  }));
  // Products load later than the other entries. They come last, so they do not move other entries.
  const commands = [...matching, ...(term === '' ? [] : [comments]), ...found];
  const isSearching = term.length > 1 && (products.isPending || products.isPlaceholderData);
  const first = matching[0] ?? (isSearching ? undefined : (found[0] ?? comments));
  const current = commands.find(({ id }) => id === active) ?? first;

  // Keeps the same entry active when other entries arrive.
  useLayoutEffect(() => setActive(current?.id), [current?.id]);
  useEffect(() => {
    document.getElementById(`${listId}-${current?.id}`)?.scrollIntoView({ block: 'nearest' });
  });

  /** Closes the palette, which returns the focus, and then runs the command, which may move the focus elsewhere. */
  function choose(command: Command | undefined): void {
    if (!command) return;
    chosen.current = command;
    dialog.current?.close();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    const at = current ? commands.indexOf(current) : -1;
    if (event.key === 'ArrowDown') setActive((commands[at + 1] ?? commands[0])?.id);
    else if (event.key === 'ArrowUp') setActive((commands[at - 1] ?? commands.at(-1))?.id);
    else if (event.key === 'Enter') choose(current);
    else return;
    event.preventDefault();
  }

  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Jump to"
      onClose={() => {
        onClose();
        chosen.current?.run();
      }}
      {...outside}
    >
      <input
        autoFocus
        className="palette-input"
        role="combobox"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={current && `${listId}-${current.id}`}
        aria-label="Jump to a screen, a product or a command"
        placeholder="Jump to a screen, a product or a command"
        value={text}
        maxLength={100}
        onChange={(event) => {
          setText(event.target.value);
          setActive(undefined);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={listId} className="palette-list" role="listbox" aria-label="Results">
        {commands.map((command) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above handles the keys of its list box
          <div
            key={command.id}
            id={`${listId}-${command.id}`}
            className="palette-option"
            role="option"
            tabIndex={-1}
            aria-selected={command === current}
            onPointerMove={() => setActive(command.id)}
            onClick={() => choose(command)}
          >
            <bdi>{command.label}</bdi>
            <small>{command.hint}</small>
          </div>
        ))}
      </div>
    </dialog>
  );
}
