/** A browser's storage, for tests: `kept` is what is in it, and while it `isFull` it takes nothing. */
export function createTestStorage() {
  const kept = new Map<string, string>();
  const storage = {
    kept,
    isFull: false,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem(key: string, text: string): void {
      if (storage.isFull) throw new DOMException('Full', 'QuotaExceededError');
      kept.set(key, text);
    },
    removeItem: (key: string): void => void kept.delete(key),
  };
  return storage;
}
