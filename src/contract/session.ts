/**
 * The anonymous visitor's session id: made and kept by the browser, sent with whatever is personal.
 * It is an untrusted, unguessable token: never logged, never returned, never shown to anyone else.
 */
export const SESSION_HEADER = 'X-User-Session';

/** The key of the browser's storage under which the id is kept. */
export const SESSION_STORAGE_KEY = 'user_session';

/** `session-…`, `fallback-session-…` or `server-session-…`, 9 to 100 characters in all. */
export const SESSION_PATTERN = '^(?=.{9,100}$)(?:session|fallback-session|server-session)-[A-Za-z0-9-]+$';
