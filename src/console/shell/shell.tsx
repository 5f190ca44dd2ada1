import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { CONSOLE_API } from '../../contract/console/paths.ts';
import type { ConsoleSession } from '../../contract/console/schema.ts';
import { ErrorBoundary } from '../../web/ui/error-boundary.tsx';
import { SearchIcon, SiteMark } from '../../web/ui/icons.tsx';
import { ThemeSwitch } from '../../web/ui/theme.tsx';
import { showToast } from '../../web/ui/toasts.ts';
import { useUndoLast } from '../api/actions.ts';
import { call, messageOf, switchSession } from '../api/console-api.ts';
import { useLiveUpdates } from '../api/live.ts';
import { useWaiting } from '../api/overview.ts';
import { goTo, useConsoleLocation } from '../location.ts';
import { useIgnoredFileDrops } from '../ui/file-drops.ts';
import { SignOutIcon } from '../ui/icons.tsx';
import { useKeys, usePaletteKey, useSequence } from '../ui/keys.ts';
import { ScreenLink } from '../ui/page.tsx';
import { Palette } from './palette.tsx';
import { SCREENS } from './screens.tsx';
import { ShortcutsDialog } from './shortcuts-dialog.tsx';

/** How long after G a second key is accepted. */
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
    // Requests after sign-out would fail, so the live updates and all other requests are stopped first.
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
    // Removes a dialog that was just closed, because its `close` event follows only in the next frame.
    flushSync(() => setOpen(undefined));
    setOpen(dialog);
  }

  /**
   * Returns whether the next key is the second one of a sequence such as `G P`. Otherwise, the screen handles the key.
   */
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
