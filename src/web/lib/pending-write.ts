const STORAGE_KEY = 'write_pending';

let pending = 0;
let settledAt = Number.NEGATIVE_INFINITY;

/**
 * Remembers beyond this page that a write is under way. Call the answer when it is settled; on a page that is left
 * before, nobody does, and the next page knows that its document may be older than what the visitor did.
 */
export function notePendingWrite(): () => void {
  pending += 1;
  store((storage) => storage.setItem(STORAGE_KEY, '1'));
  return () => {
    pending -= 1;
    settledAt = performance.now();
    if (pending === 0) store((storage) => storage.removeItem(STORAGE_KEY));
  };
}

/** How long ago the last write of this page was settled, in milliseconds: 0 while one is under way. */
export function sinceLastWriteMs(): number {
  return pending > 0 ? 0 : performance.now() - settledAt;
}

/** Whether the page before this one was left while a write was under way; asked once, when a page starts. */
export function takePendingWrite(): boolean {
  let found = false;
  store((storage) => {
    found = storage.getItem(STORAGE_KEY) !== null;
    storage.removeItem(STORAGE_KEY);
  });
  return found;
}

function store(use: (storage: Storage) => void): void {
  try {
    use(window.sessionStorage);
  } catch {
    // Without storage the next page may show the document as it was kept, until it is read again.
  }
}
