import { useSyncExternalStore } from 'react';

/** The storage key of queued writes. A page checks it before it loads the code that sends them. */
export const OUTBOX_KEY = 'outbox';

/** A stored value. If storage is unavailable, the value lasts as long as the page. */
interface BrowserStore<Value> {
  /** Returns the same object until the value changes. */
  read(): Value;
  /** Stores a value. `undefined` deletes it. */
  write(value: Value | undefined): void;
  /** Returns whether the last write reached storage. Otherwise, its value is lost with the page. */
  isPersisted(): boolean;
  subscribe(listener: () => void): () => void;
  /** The value if nothing is stored, for example on the server. */
  initial: Value;
}

/**
 * Creates a store. `parse` validates the stored value, which is `undefined` if there is none. `parse` must accept any
 * JSON value, because other code on this origin may write to storage. All tabs share the value, unless `storage` is
 * session storage.
 */
export function createBrowserStore<Value>(
  key: string,
  parse: (stored: unknown) => Value,
  storage: 'localStorage' | 'sessionStorage' = 'localStorage',
): BrowserStore<Value> {
  const initial = parse(undefined);
  const listeners = new Set<() => void>();
  /**
   * The JSON of the last write if storage rejected it, or `null` if that write was a deletion. Otherwise `undefined`.
   */
  let rejected: string | null | undefined;
  let cached: { text: string | null; value: Value } = { text: null, value: initial };

  function readText(): string | null {
    if (rejected !== undefined) return rejected;
    try {
      return window[storage].getItem(key);
    } catch {
      return null;
    }
  }

  function notify(): void {
    for (const listener of listeners) listener();
  }

  function onStorage(event: StorageEvent): void {
    // The key is `null` if the entire storage was cleared.
    if (event.key === key || event.key === null) notify();
  }

  return {
    initial,
    read() {
      const text = readText();
      if (text !== cached.text) cached = { text, value: parseText(text, parse) };
      return cached.value;
    },
    write(value) {
      const text = value === undefined ? null : JSON.stringify(value);
      try {
        if (text === null) window[storage].removeItem(key);
        else window[storage].setItem(key, text);
        rejected = undefined;
      } catch {
        rejected = text;
      }
      notify();
    },
    isPersisted: () => rejected === undefined,
    subscribe(listener) {
      if (listeners.size === 0) {
        window.addEventListener('storage', onStorage);
        // A page in the back/forward cache receives no storage events, so it rereads when it is shown again.
        window.addEventListener('pageshow', notify);
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        window.removeEventListener('storage', onStorage);
        window.removeEventListener('pageshow', notify);
      };
    },
  };
}

/** Returns the value or a part of it. Changes to other parts do not cause a render. */
export function useBrowserStore<Value, Part>(store: BrowserStore<Value>, part: (value: Value) => Part): Part {
  return useSyncExternalStore(
    store.subscribe,
    () => part(store.read()),
    () => part(store.initial),
  );
}

function parseText<Value>(text: string | null, parse: (stored: unknown) => Value): Value {
  try {
    return parse(text === null ? undefined : JSON.parse(text));
  } catch {
    return parse(undefined);
  }
}
