/** Limits on submissions, shared by browser and server. Limits on their fields are in `products/fields.ts`. */
export const SUBMISSION_LIMITS = {
  /** Maximum number of submissions per IPv4 address or IPv6 /64 that wait for a decision. */
  waitingPerNetwork: 5,
  /** How far ahead a maker can schedule a launch. */
  launchAheadDays: 366,
} as const;

/** The error for a launch time in the past. The form replaces it with a translated message. */
export const TIME_PASSED = 'This time has passed.';

/**
 * A maker key: 32 random bytes in base64url, like all tokens of the site. Clients send it as `Authorization: Bearer
 * {key}`.
 */
export const MAKER_KEY_PATTERN = '^[A-Za-z0-9_-]{43}$';

/** The badge that marks comments by a product's maker. */
export const MAKER_BADGE = 'Maker';
