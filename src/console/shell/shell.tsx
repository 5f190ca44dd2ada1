import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { CONSOLE_API } from '../../contract/console/paths.ts';
import type { ConsoleSession } from '../../contract/console/schema.ts';
import { ErrorBoundary } from '../../web/ui/error-boundary.tsx';
import { SearchIcon, SiteMark } from '../../web/ui/icons.tsx';
import { Modal } from '../../web/ui/modal.tsx';
import { setShortcuts, useShortcuts } from '../../web/ui/shortcuts.ts';
import { ThemeSwitch } from '../../web/ui/theme.tsx';
import { showToast } from '../../web/ui/toasts.ts';
import { useUndoLast } from '../api/actions.ts';
import { call, messageOf, switchSession, useWaiting } from '../api/console-api.ts';
import { useLiveUpdates } from '../api/live.ts';
import { goTo, useConsoleLocation } from '../location.ts';
import { SignOutIcon } from '../ui/icons.tsx';
import { useKeys, usePaletteKey, useSequence } from '../ui/keys.ts';
import { ScreenLink } from '../ui/page.tsx';
import { Palette } from './palette.tsx';
import { SCREENS } from './screens.tsx';

/** How long after G the second key of a sequence is accepted. */
const SEQUENCE_MS = 1_200;

/** The app shell around the current screen: navigation, command palette and shared state. */
export function Shell({ session }: { session: ConsoleSession }) {
  const client = useQueryClient();
  const undoLast = useUndoLast();
  const { screen } = useConsoleLocation();
  const [isLeaving, setLeaving] = useState(false);
  const isConnected = useLiveUpdates(isLeaving);
  const { submissions = 0, heldComments = 0 } = useWaiting().data ?? {};
  const waiting = submissions + heldComments;
  const [open, setOpen] = useState<'palette' | 'shortcuts' | undefined>();
  const lastGAt = useRef(Number.NEGATIVE_INFINITY);
  const current = SCREENS.find((each) => each.screen === screen) ?? SCREENS[0];

  async function signOut(everywhere = false): Promise<void> {
    // Requests after sign-out would fail, so the live updates and all queries are stopped first.
    flushSync(() => setLeaving(true));
    await client.cancelQueries();
    try {
      await call(everywhere ? CONSOLE_API.signOutEverywhere : CONSOLE_API.signOut, { method: 'POST' });
      switchSession(client, null);
    } catch (error) {
      setLeaving(false);
      void client.invalidateQueries();
      showToast({ title: 'You may still be signed in', description: messageOf(error), tone: 'destructive' });
    }
  }

  function show(dialog: 'palette' | 'shortcuts'): void {
    // Removes a dialog that was just closed, because its `close` event does not fire until the next frame.
    flushSync(() => setOpen(undefined));
    setOpen(dialog);
  }

  /** Returns whether the next key is the second one of a sequence such as `G P`. If not, the screen handles it. */
  const isAfterG = () => performance.now() - lastGAt.current < SEQUENCE_MS;
  useKeys({
    g: () => {
      lastGAt.current = performance.now();
    },
    u: undoLast,
    '?': () => show('shortcuts'),
  });
  useSequence(isAfterG, (key) => {
    const target = SCREENS.find((each) => each.key === key);
    lastGAt.current = Number.NEGATIVE_INFINITY;
    if (target) goTo(target.screen);
  });
  usePaletteKey(() => show('palette'));
  useIgnoredFileDrops();

  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className="side">
        <a className="side-brand" href="/" title="Open the site">
          <SiteMark logo={session.siteLogo} />
          <span>
            {session.siteName}
            <small>Console</small>
          </span>
        </a>
        <button type="button" className="palette-button" aria-keyshortcuts="Control+K" onClick={() => show('palette')}>
          <SearchIcon />
          <span>Jump to …</span>
          <kbd>Ctrl K</kbd>
        </button>
        <nav aria-label="Console">
          <ul className="nav">
            {SCREENS.map(({ screen: each, label, Icon }) => (
              <li key={each}>
                <ScreenLink screen={each} aria-current={each === screen ? 'page' : undefined}>
                  <Icon />
                  <span>{label}</span>
                  {each === 'queue' && waiting > 0 && (
                    <span className="nav-count">
                      {waiting > 99 ? '99+' : waiting}
                      <span className="visually-hidden"> waiting</span>
                    </span>
                  )}
                </ScreenLink>
              </li>
            ))}
          </ul>
        </nav>
        <div className="side-foot">
          <p className="side-operator">
            <span className="live-dot" data-connected={isConnected} aria-hidden="true" />
            <span>
              {session.operator}
              <small>{isConnected ? 'Live' : 'Connecting …'}</small>
            </span>
          </p>
          <ThemeSwitch />
          <button
            type="button"
            className="icon-button"
            aria-label="Sign out"
            title="Sign out"
            onClick={() => void signOut()}
          >
            <SignOutIcon />
          </button>
        </div>
      </header>
      <main id="main" className="main" tabIndex={-1}>
        {current && (
          <ErrorBoundary location={current.screen}>
            <current.Screen />
          </ErrorBoundary>
        )}
      </main>
      {open === 'palette' && (
        <Palette
          onClose={() => setOpen(undefined)}
          onSignOut={(everywhere) => void signOut(everywhere)}
          onShortcuts={() => setOpen('shortcuts')}
        />
      )}
      {open === 'shortcuts' && <ShortcutsDialog onClose={() => setOpen(undefined)} />}
    </div>
  );
}

/** Ignores files that are dropped outside of drop zones. The browser would open such a file in place of the page. */
function useIgnoredFileDrops(): void {
  useEffect(() => {
    function ignore(event: DragEvent): void {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'none';
    }
    window.addEventListener('dragover', ignore);
    window.addEventListener('drop', ignore);
    return () => {
      window.removeEventListener('dragover', ignore);
      window.removeEventListener('drop', ignore);
    };
  }, []);
}

type Keys = readonly (readonly [string, string])[];

/**
 * The shortcut of the command palette. It stays active when single-key shortcuts are turned off, because it uses Ctrl.
 */
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
function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const isOn = useShortcuts();
  const { traversals } = useConsoleLocation();
  const screens = SCREENS.map(({ key, label }) => [`G ${key.toUpperCase()}`, label] as const);
  const sections: readonly (readonly [string, Keys])[] = isOn
    ? [
        ['Everywhere', [...PALETTE, ...EVERYWHERE]],
        ['In lists', LISTS],
        ['Screens', screens],
      ]
    : [['Everywhere', PALETTE]];
  return (
    <Modal title="Keyboard shortcuts" location={traversals} onClose={onClose}>
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
