import { QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { CONSOLE_API } from '../contract/console/paths.ts';
import type { ConsoleSession } from '../contract/console/schema.ts';
import { findRendered } from '../web/ui/focus.ts';
import { THEME_STORAGE_KEY } from '../web/ui/theme.tsx';
import { NowProvider } from '../web/ui/time.tsx';
import { Toaster } from '../web/ui/toaster.tsx';
import { allowTranslation } from '../web/ui/translated-text.ts';
import { type Undoable, UndoProvider } from './api/actions.ts';
import {
  askBeforeUnload,
  ConsoleError,
  call,
  consoleKeys,
  createConsoleClient,
  SIGNED_OUT,
  switchSession,
} from './api/console-api.ts';
import { focusMain } from './location.ts';
import { Shell } from './shell/shell.tsx';
import { AcceptInvitation, SignIn } from './shell/sign-in.tsx';
import { Failure } from './ui/states.tsx';
import './styles.css';

try {
  const theme = localStorage.getItem(THEME_STORAGE_KEY);
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without local storage, the system's theme applies.
}

allowTranslation();
const root = document.getElementById('root');
if (!root) throw new Error('The document has no #root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={createConsoleClient()}>
      <NowProvider renderedAt={Date.now()}>
        <App />
      </NowProvider>
    </QueryClientProvider>
  </StrictMode>,
);

/** The console. It shows an invitation, the sign-in page or, to a signed-in operator, the screens. */
function App() {
  const client = useQueryClient();
  const [invitation, setInvitation] = useState(takeInvitation);
  /** The state of each operator. Another operator may sign in without a reload of the page. */
  const [undoables] = useState(() => new Map<string, Undoable>());
  const session = useQuery({
    queryKey: consoleKeys.session,
    queryFn: async ({ signal }) => {
      const read = await call<ConsoleSession>(CONSOLE_API.session, { signal }).catch(nullWhenSignedOut);
      const shown = client.getQueryData<ConsoleSession | null>(consoleKeys.session);
      if (shown?.operator !== read?.operator) switchSession(client, read);
      return read;
    },
    enabled: invitation === undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });

  useEffect(() => {
    // Another operator may have signed in through another window, because windows share the session cookie. A request
    // that is already running may have been sent before that sign-in, so it is restarted.
    function check(): void {
      if (document.visibilityState === 'visible') void client.invalidateQueries({ queryKey: consoleKeys.session });
    }
    function end(): void {
      switchSession(client, null);
      check();
    }
    window.addEventListener(SIGNED_OUT, end);
    window.addEventListener('focus', check);
    window.addEventListener('visibilitychange', check);
    return () => {
      window.removeEventListener(SIGNED_OUT, end);
      window.removeEventListener('focus', check);
      window.removeEventListener('visibilitychange', check);
    };
  }, [client]);

  // Opening a link in this tab may change only the fragment, which does not reload the page.
  useEffect(() => {
    function take(): void {
      const token = takeInvitation();
      if (token !== undefined) setInvitation(token);
    }
    window.addEventListener('hashchange', take);
    return () => window.removeEventListener('hashchange', take);
  }, []);

  // Closing the page loses unsaved edits, even while no operator is signed in.
  useEffect(
    () => askBeforeUnload(() => [...undoables.values()].some(({ unsavedEdits }) => unsavedEdits.size > 0)),
    [undoables],
  );

  function begin(started: ConsoleSession): void {
    switchSession(client, started);
    // Restarts a check that was sent before the sign-in, whose response would show the sign-in page again.
    void client.invalidateQueries({ queryKey: consoleKeys.session });
    setInvitation(undefined);
    // The form that had the focus disappears, so the focus moves to the screen.
    void findRendered(() => document.getElementById('main')).then(focusMain);
  }

  function undoableOf(operator: string): Undoable {
    const undoable = undoables.get(operator) ?? { started: 0, unsavedEdits: new Map() };
    undoables.set(operator, undoable);
    return undoable;
  }

  return (
    <>
      {invitation !== undefined ? (
        <AcceptInvitation
          key={invitation}
          token={invitation}
          onAccepted={begin}
          onLeave={() => setInvitation(undefined)}
        />
      ) : session.isPending ? null : session.data === undefined ? (
        <main className="gate">
          <Failure error={session.error} onRetry={() => void session.refetch()} />
        </main>
      ) : session.data === null ? (
        <SignIn onSignedIn={begin} />
      ) : (
        <UndoProvider value={undoableOf(session.data.operator)}>
          <Shell key={session.data.operator} session={session.data} />
        </UndoProvider>
      )}
      <Toaster />
    </>
  );
}

/** Returns the token of an invitation link, and removes it from the URL, so it does not remain in the history. */
function takeInvitation(): string | undefined {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('invitation') ?? undefined;
  if (token !== undefined) window.history.replaceState(null, '', window.location.pathname);
  return token;
}

function nullWhenSignedOut(error: unknown): null {
  if (error instanceof ConsoleError && error.code === 'not_signed_in') return null;
  throw error;
}
