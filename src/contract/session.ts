/**
 * The anonymous visitor's session id: created and stored by the browser, sent with personal requests. It is an
 * untrusted, unguessable token: never logged, returned or shown to anyone else.
 */
export const SESSION_HEADER = 'X-User-Session';

/** The browser's storage key of the id. */
export const SESSION_STORAGE_KEY = 'user_session';

/** `session-…`, `fallback-session-…` or `server-session-…`, 9 to 100 characters in all. */
export const SESSION_PATTERN = '^(?=.{9,100}$)(?:session|fallback-session|server-session)-[A-Za-z0-9-]+$';
