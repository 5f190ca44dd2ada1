import type { Page } from '@playwright/test';

/** Makes every access to storage fail in the documents that the page loads, as with blocked cookies. */
export async function blockStorage(page: Page): Promise<void> {
  await page.addInitScript(() => {
    for (const storage of ['localStorage', 'sessionStorage']) {
      Object.defineProperty(window, storage, {
        get() {
          throw new DOMException('Blocked', 'SecurityError');
        },
      });
    }
  });
}

/** Creates browser storage for tests. `stored` contains its entries. Writes fail while `isFull` is true. */
export function createBrowserStorage() {
  const stored = new Map<string, string>();
  const storage = {
    stored,
    isFull: false,
    getItem: (key: string) => stored.get(key) ?? null,
    setItem(key: string, text: string): void {
      if (storage.isFull) throw new DOMException('Full', 'QuotaExceededError');
      stored.set(key, text);
    },
    removeItem: (key: string): void => void stored.delete(key),
  };
  return storage;
}

/** Records the keys that an open page stores from now on. @returns a function that returns them. */
export async function recordStoredKeys(page: Page): Promise<() => Promise<string[]>> {
  const keys = await page.evaluateHandle(() => {
    const stored: string[] = [];
    const { setItem } = Storage.prototype;
    Storage.prototype.setItem = function (key, value) {
      stored.push(key);
      setItem.call(this, key, value);
    };
    return stored;
  });
  return () => keys.jsonValue();
}
