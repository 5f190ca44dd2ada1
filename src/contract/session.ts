/**
 * The header with the anonymous visitor's session id, which the browser creates, stores and sends with the visitor's
 * own requests. It is an untrusted, unguessable token, and must never be logged, returned or shown to anyone else.
 */
export const SESSION_HEADER = 'X-User-Session';

/** The key under which the browser stores the session id. */
export const SESSION_STORAGE_KEY = 'user_session';

/** A session id: `session-…`, `fallback-session-…` or `server-session-…`, 9 to 100 characters long. */
export const SESSION_PATTERN = '^(?=.{9,100}$)(?:session|fallback-session|server-session)-[A-Za-z0-9-]+$';
