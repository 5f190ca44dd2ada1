import { afterEach, expect, test, vi } from 'vitest';
import { createBrowserStorage } from '../../../tests/support/browser-storage.ts';
import { createBrowserStore } from './browser-store.ts';

const words = (key: string) =>
  createBrowserStore<readonly string[]>(key, (stored) =>
    Array.isArray(stored) ? stored.filter((word) => typeof word === 'string') : [],
  );

/** Stubs a browser with one tab. `elsewhere` simulates writes by another tab. */
function browser() {
  const localStorage = createBrowserStorage();
  const { stored } = localStorage;
  const listeners = new Map<string, Set<(event: unknown) => void>>();
  const of = (type: string) => listeners.get(type) ?? new Set();
  vi.stubGlobal('window', {
    localStorage,
    addEventListener: (type: string, listener: (event: unknown) => void) => listeners.set(type, of(type).add(listener)),
    removeEventListener: (type: string, listener: (event: unknown) => void) => of(type).delete(listener),
  });
  return {
    stored,
    localStorage,
    listening: () => of('storage').size + of('pageshow').size,
    elsewhere(key: string | null, text?: string) {
      if (key === null) stored.clear();
      else if (text === undefined) stored.delete(key);
      else stored.set(key, text);
      for (const listener of of('storage')) listener({ key });
    },
  };
}

afterEach(() => vi.unstubAllGlobals());

test('a written value can be read, also by a later page, and deleted', () => {
  const { stored } = browser();
  words('words').write(['swell']);
  expect(words('words').read()).toEqual(['swell']);
  words('words').write(undefined);
  expect(words('words').read()).toEqual([]);
  expect(stored.size).toBe(0);
});

test('every read returns the same object until the value changes', () => {
  browser();
  const store = words('words');
  expect(store.read()).toBe(store.initial);
  store.write(['swell']);
  expect(store.read()).toBe(store.read());
});

test.each(['nonsense', '{}', 'null', '7'])('invalid stored values are ignored: %s', (text) => {
  browser().stored.set('words', text);
  expect(words('words').read()).toEqual([]);
});

test('subscribers are notified of changes that other tabs make to this key or to the whole storage', () => {
  const tab = browser();
  const store = words('words');
  const heard: (readonly string[])[] = [];
  const leave = store.subscribe(() => heard.push(store.read()));
  tab.elsewhere('words', '["tide"]');
  tab.elsewhere('theme', '"dark"');
  tab.elsewhere(null);
  expect(heard).toEqual([['tide'], []]);
  leave();
  expect(tab.listening()).toBe(0);
});

test('if storage is full, subscribers get a new value, which is lost with the page, and a later value can be stored', () => {
  const { stored, localStorage } = browser();
  const store = words('words');
  store.write(['old']);
  let told = 0;
  store.subscribe(() => {
    told += 1;
  });
  localStorage.isFull = true;
  expect(store.isPersisted()).toBe(true);
  store.write(['new']);
  expect(store.isPersisted()).toBe(false);
  expect(store.read()).toEqual(['new']);
  expect(told).toBe(1);
  expect(stored.get('words')).toBe('["old"]');
  localStorage.isFull = false;
  store.write(['newer']);
  expect(store.isPersisted()).toBe(true);
  expect(stored.get('words')).toBe('["newer"]');
});

test('values last as long as the page if there is no storage', () => {
  vi.stubGlobal('window', {
    get localStorage(): never {
      throw new DOMException('Blocked', 'SecurityError');
    },
  });
  const store = words('words');
  expect(store.read()).toEqual([]);
  store.write(['swell']);
  expect(store.read()).toEqual(['swell']);
  store.write(undefined);
  expect(store.read()).toEqual([]);
});
