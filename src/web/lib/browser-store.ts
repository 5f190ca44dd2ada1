import { useSyncExternalStore } from 'react';

/** A value that the browser keeps, the same in all its tabs. Where storage refuses, it lasts as long as the page. */
export interface BrowserStore<Value> {
  /** The same object as long as nothing changes. */
  read(): Value;
  /** `undefined` forgets it. */
  write(value: Value | undefined): void;
  subscribe(listener: () => void): () => void;
  /** What there is before the browser is asked, e.g. on the server. */
  nothing: Value;
}

/**
 * `parse` gets whatever JSON is kept under the key, `undefined` where there is none, and makes a value of it: storage is open to
 * whatever else ran here.
 */
export function createBrowserStore<Value>(key: string, parse: (kept: unknown) => Value): BrowserStore<Value> {
  const nothing = parse(undefined);
  const listeners = new Set<() => void>();
  /** What storage refused; it stands for what is in the storage, which is older. `null`: forgotten. */
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
    // `null`: all was cleared.
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
        // A page that was frozen heard nothing.
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

/** What is kept, or something of it that stays the same while the rest changes. */
export function useBrowserStore<Value, Part>(store: BrowserStore<Value>, part: (value: Value) => Part): Part {
  return useSyncExternalStore(
    store.subscribe,
    () => part(store.read()),
    () => part(store.nothing),
  );
}

function parseText<Value>(text: string | null, parse: (kept: unknown) => Value): Value {
  try {
    return parse(text === null ? undefined : JSON.parse(text));
  } catch {
    return parse(undefined);
  }
}
