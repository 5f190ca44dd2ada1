const STORAGE_KEY = 'commented_on';

/** Products remembered at most; of older ones a comment that is held will have been judged. */
const MOST = 200;

/** Whether this browser has posted a comment on the product, as far as it remembers. */
export function hasWrittenOn(productId: string): boolean {
  return read().includes(productId);
}

export function rememberWriting(productId: string): void {
  const others = read().filter((id) => id !== productId);
  try {
    window.localStorage.setItem(STORAGE_KEY, JSON.stringify([productId, ...others].slice(0, MOST)));
  } catch {
    // Storage that refuses: the comment is still on the page, and forgotten with it.
  }
}

function read(): string[] {
  // The server knows nobody, and to run into that there would cost a stack trace for each page.
  if (typeof window === 'undefined') return [];
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(STORAGE_KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}
