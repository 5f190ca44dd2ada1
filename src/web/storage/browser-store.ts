import { useSyncExternalStore } from 'react';

/** The key of queued writes. A page looks for it before it loads the code that sends them. */
export const OUTBOX_KEY = 'outbox';

/** A value in local storage, shared by all tabs. Without storage it lasts as long as the page. */
export interface BrowserStore<Value> {
  /** Returns the same object until the value changes. */
  read(): Value;
  /** `undefined` deletes the value. */
  write(value: Value | undefined): void;
  subscribe(listener: () => void): () => void;
  /** The value without storage, e.g. on the server. */
  nothing: Value;
}

/**
 * `parse` turns any stored JSON into a value, or `undefined` if there is none: other code on this origin may write to
 * storage.
 */
export function createBrowserStore<Value>(key: string, parse: (stored: unknown) => Value): BrowserStore<Value> {
  const nothing = parse(undefined);
  const listeners = new Set<() => void>();
  /** The latest text if storage refused it; `null` if the value was deleted. */
  let refused: string | null | undefined;
  let known: { text: string | null; value: Value } = { text: null, value: nothing };

  function readText(): string | null {
    if (refused !== undefined) return refused;
    try {
      return window.localStorage.getItem(key);
    } catch {
      return null;
    }
  }

  function tell(): void {
    for (const listener of listeners) listener();
  }

  function onStorage(event: StorageEvent): void {
    // The key is `null` if the whole storage was cleared.
    if (event.key === key || event.key === null) tell();
  }

  return {
    nothing,
    read() {
      const text = readText();
      if (text !== known.text) known = { text, value: parseText(text, parse) };
      return known.value;
    },
    write(value) {
      const text = value === undefined ? null : JSON.stringify(value);
      try {
        if (text === null) window.localStorage.removeItem(key);
        else window.localStorage.setItem(key, text);
        refused = undefined;
      } catch {
        refused = text;
      }
      tell();
    },
    subscribe(listener) {
      if (listeners.size === 0) {
        window.addEventListener('storage', onStorage);
        // A frozen page receives no storage events.
        window.addEventListener('pageshow', tell);
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        window.removeEventListener('storage', onStorage);
        window.removeEventListener('pageshow', tell);
      };
    },
  };
}

/** Returns the value or a part of it. Changes of other parts cause no render. */
export function useBrowserStore<Value, Part>(store: BrowserStore<Value>, part: (value: Value) => Part): Part {
  return useSyncExternalStore(
    store.subscribe,
    () => part(store.read()),
    () => part(store.nothing),
  );
}

function parseText<Value>(text: string | null, parse: (stored: unknown) => Value): Value {
  try {
    return parse(text === null ? undefined : JSON.parse(text));
  } catch {
    return parse(undefined);
  }
}
