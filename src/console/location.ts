import { useSyncExternalStore } from 'react';
import { flushSync } from 'react-dom';
import { CONSOLE_PATHS, CONSOLE_SCREENS, type ConsoleScreen } from '../contract/console/paths.ts';
import { withQuery } from '../contract/paths/api.ts';

/** The operator's location: a screen, and the filters and selections in its URL. */
interface ConsoleLocation {
  screen: ConsoleScreen;
  query: URLSearchParams;
  /** Increases when Back or Forward leads to another page, and not when a filter changes or a dialog closes. */
  traversals: number;
}

const listeners = new Set<() => void>();
let traversals = 0;
/** The parsed URL of the window. `useSyncExternalStore` requires the same object until the URL changes. */
let current = read();

function read(): ConsoleLocation {
  const { pathname, search } = window.location;
  const screen = CONSOLE_SCREENS.find((each) => CONSOLE_PATHS.screen(each) === pathname) ?? 'overview';
  return { screen, query: new URLSearchParams(search), traversals };
}

function update(): void {
  current = read();
  for (const listener of listeners) listener();
}

/** Whether the browser is still going back from a dialog, which ends with a `popstate` event. */
let isGoingBack = false;

window.addEventListener('popstate', () => {
  if (!isGoingBack) traversals += 1;
  isGoingBack = false;
  keepFocus(update);
});

/** Renders a change of the URL and, if the focused element has disappeared, focuses the main landmark. */
function keepFocus(change: () => void): void {
  flushSync(change);
  const focused = document.activeElement;
  // A dialog that the change has closed still has the focus if it cannot return it to an element that is gone.
  if (focused === document.body || focused?.closest('dialog:not([open])')) focusMain();
}

/** Focuses the main landmark, from which the Tab key reaches the controls of the screen. */
export function focusMain(): void {
  document.getElementById('main')?.focus({ preventScroll: true });
}

/** Returns the current location, for event handlers and effects. Components use `useConsoleLocation()`. */
export function consoleLocation(): ConsoleLocation {
  return current;
}

export function useConsoleLocation(): ConsoleLocation {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}

export type Query = Record<string, string | undefined>;

/** Returns the URL of a screen, without empty and unset parameters. */
export function addressOf(screen: ConsoleScreen, query?: Query): string {
  return withQuery(CONSOLE_PATHS.screen(screen), query);
}

export function goTo(screen: ConsoleScreen, query?: Query): void {
  onceBack(() => {
    window.history.pushState(null, '', addressOf(screen, query));
    update();
    focusMain();
    window.scrollTo(0, 0);
  });
}

/**
 * Adds a history entry. If the browser is still going back from a dialog, waits for that to end, because the browser
 * would also leave the new entry.
 */
function onceBack(addEntry: () => void): void {
  if (isGoingBack) window.addEventListener('popstate', addEntry, { once: true });
  else addEntry();
}

/** Changes parameters of the current URL without adding a history entry, for example filters during typing. */
export function setQuery(changes: Query): void {
  window.history.replaceState(window.history.state, '', addressWith(changes));
  update();
}

/** Marks a history entry that `openDialog` added. The entry before it shows the same screen without the dialog. */
const DIALOG = 'dialog';

/** Opens a dialog of the current screen by setting parameters in a new history entry, so Back closes the dialog. */
export function openDialog(parameters: Query): void {
  onceBack(() => {
    window.history.pushState(DIALOG, '', addressWith(parameters));
    update();
  });
}

/** Closes a dialog by going back. If `openDialog` did not open the dialog, sets these parameters instead. */
export function closeDialog(parameters: Query): void {
  if (isGoingBack) return;
  isGoingBack = window.history.state === DIALOG;
  if (isGoingBack) window.history.back();
  else keepFocus(() => setQuery(parameters));
}

function addressWith(changes: Query): string {
  return addressOf(current.screen, { ...Object.fromEntries(current.query), ...changes });
}
