import { SESSION_PATTERN, SESSION_STORAGE_KEY } from '../../contract/api.ts';

const VALID = new RegExp(SESSION_PATTERN);

/** The session id if storage is unavailable. It lasts as long as the page. */
let inMemory: string | null = null;

/** Returns the visitor's session id (specification, section 3). Creates it on first use and stores it if possible. */
export function sessionId(): string {
  if (typeof window === 'undefined') return `server-session-${Date.now()}`;
  if (inMemory) return inMemory;
  try {
    const stored = window.localStorage.getItem(SESSION_STORAGE_KEY);
    // The server would reject every request that sends any other value.
    if (stored && VALID.test(stored)) return stored;
    const made = `session-${randomId() ?? Date.now()}`;
    window.localStorage.setItem(SESSION_STORAGE_KEY, made);
    return made;
  } catch {
    inMemory = `fallback-session-${Date.now()}`;
    return inMemory;
  }
}

/**
 * Returns a random UUID (version 4), or `null` if the browser has no source of randomness. Plain-HTTP origins lack
 * `randomUUID`, but have `getRandomValues`.
 */
export function randomId(): string | null {
  const source: Partial<Crypto> | undefined = globalThis.crypto;
  if (source?.randomUUID) return source.randomUUID();
  if (!source?.getRandomValues) return null;
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  // Sets the four version bits and the two variant bits (RFC 9562, section 5.4).
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
