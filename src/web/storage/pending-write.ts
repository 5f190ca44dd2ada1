const STORAGE_KEY = 'write_pending';

let pending = 0;
let settledAt = Number.NEGATIVE_INFINITY;

/**
 * Marks beyond this page that a write is pending. Call the returned function when it is settled; if the page is left
 * before, the next page knows that its document may be older than the visitor's writes.
 */
export function trackWrite(): () => void {
  pending += 1;
  store((storage) => storage.setItem(STORAGE_KEY, '1'));
  return () => {
    pending -= 1;
    settledAt = performance.now();
    if (pending === 0) store((storage) => storage.removeItem(STORAGE_KEY));
  };
}

/** Milliseconds since this page's last write completed; 0 while one is pending. */
export function msSinceLastWrite(): number {
  return pending > 0 ? 0 : performance.now() - settledAt;
}

/** Whether the visitor left the previous page while a write was pending. Called once, when a page starts. */
export function takeUnfinishedWrite(): boolean {
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
    // Without storage the next page may show a cached document until its next refetch.
  }
}
