import { afterEach, expect, test, vi } from 'vitest';
import { createBrowserStore } from './browser-store.ts';
import { createTestStorage } from './test-storage.ts';

const words = (key: string) =>
  createBrowserStore<readonly string[]>(key, (kept) =>
    Array.isArray(kept) ? kept.filter((word) => typeof word === 'string') : [],
  );

/** A browser of one tab; what another tab writes is told by `elsewhere`. */
function browser() {
  const localStorage = createTestStorage();
  const { kept } = localStorage;
  const listeners = new Map<string, Set<(event: unknown) => void>>();
  const of = (type: string) => listeners.get(type) ?? new Set();
  vi.stubGlobal('window', {
    localStorage,
    addEventListener: (type: string, listener: (event: unknown) => void) => listeners.set(type, of(type).add(listener)),
    removeEventListener: (type: string, listener: (event: unknown) => void) => of(type).delete(listener),
  });
  return {
    kept,
    localStorage,
    listening: () => of('storage').size + of('pageshow').size,
    elsewhere(key: string | null, text?: string) {
      if (key === null) kept.clear();
      else if (text === undefined) kept.delete(key);
      else kept.set(key, text);
      for (const listener of of('storage')) listener({ key });
    },
  };
}

afterEach(() => vi.unstubAllGlobals());

test('what was written is read, also by a page that comes later, and can be forgotten', () => {
  const { kept } = browser();
  words('words').write(['swell']);
  expect(words('words').read()).toEqual(['swell']);
  words('words').write(undefined);
  expect(words('words').read()).toEqual([]);
  expect(kept.size).toBe(0);
});

test('the value is the same object as long as nothing changes', () => {
  browser();
  const store = words('words');
  expect(store.read()).toBe(store.nothing);
  store.write(['swell']);
  expect(store.read()).toBe(store.read());
});

test.each(['nonsense', '{}', 'null', '7'])('what something else put there is nothing: %s', (text) => {
  browser().kept.set('words', text);
  expect(words('words').read()).toEqual([]);
});

test('other tabs are heard, about this key and about a clearing of all, and only while somebody listens', () => {
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

test('what a full storage refuses lasts as long as the page and is told; what it takes later replaces it', () => {
  const { kept, localStorage } = browser();
  const store = words('words');
  store.write(['old']);
  let told = 0;
  store.subscribe(() => {
    told += 1;
  });
  localStorage.isFull = true;
  store.write(['new']);
  expect(store.read()).toEqual(['new']);
  expect(told).toBe(1);
  expect(kept.get('words')).toBe('["old"]');
  localStorage.isFull = false;
  store.write(['newer']);
  expect(kept.get('words')).toBe('["newer"]');
});

test('a storage that is blocked is one that forgets with the page', () => {
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
