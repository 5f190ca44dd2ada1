import { SESSION_PATTERN, SESSION_STORAGE_KEY } from '../../contract/session.ts';

const VALID = new RegExp(SESSION_PATTERN);

/** The id in a browser without storage, which lasts as long as the page. */
let inMemory: string | null = null;

/** The anonymous visitor's id (specification, section 3), created on first use and stored in the browser. */
export function sessionId(): string {
  if (typeof window === 'undefined') return `server-session-${Date.now()}`;
  if (inMemory) return inMemory;
  try {
    const stored = window.localStorage.getItem(SESSION_STORAGE_KEY);
    // The server would refuse any other value in every personal call.
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
 * A random UUID (version 4), or `null` where the browser has no source of randomness.
 * `randomUUID` is missing on plain-http origins, where `getRandomValues` still works.
 */
export function randomId(): string | null {
  const source: Partial<Crypto> | undefined = globalThis.crypto;
  if (source?.randomUUID) return source.randomUUID();
  if (!source?.getRandomValues) return null;
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  // RFC 9562, section 5.4: four bits of version, two of variant.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
