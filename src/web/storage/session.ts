import { SESSION_PATTERN, SESSION_STORAGE_KEY } from '../../contract/session.ts';
import { randomId } from './random-id.ts';

const VALID = new RegExp(SESSION_PATTERN);

/** Without storage the id lasts as long as the page. */
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
