/** Creates browser storage for tests. `stored` is the content. Writes fail while `isFull` is set. */
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
