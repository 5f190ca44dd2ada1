import { SESSION_PATTERN, SESSION_STORAGE_KEY } from '../../contract/session.ts';
import { randomId } from './random-id.ts';

const VALID = new RegExp(SESSION_PATTERN);

/** Where storage refuses, the visitor stays the same for as long as the page lives. */
let inMemory: string | null = null;

/** The anonymous visitor's id (specification, section 3): kept by the browser, made on first use. */
export function sessionId(): string {
  if (typeof window === 'undefined') return `server-session-${Date.now()}`;
  if (inMemory) return inMemory;
  try {
    const kept = window.localStorage.getItem(SESSION_STORAGE_KEY);
    // Anything else in there would be refused by every personal call, for ever.
    if (kept && VALID.test(kept)) return kept;
    const made = `session-${randomId() ?? Date.now()}`;
    window.localStorage.setItem(SESSION_STORAGE_KEY, made);
    return made;
  } catch {
    inMemory = `fallback-session-${Date.now()}`;
    return inMemory;
  }
}
