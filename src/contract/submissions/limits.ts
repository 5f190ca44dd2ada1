/** Bounds of submissions that browser and server agree on. The fields have the bounds of products (`products/fields.ts`). */
export const SUBMISSION_LIMITS = {
  /** Submissions of one network that may wait for a decision at the same time. */
  waitingPerNetwork: 5,
  /** How far ahead a maker can schedule a launch. */
  launchAheadDays: 366,
  /** Unicode code points of the reason for declining a submission. */
  reasonCharacters: 1_000,
} as const;

/** A maker key: 32 random bytes in base64url. Clients send it as `Authorization: Bearer {key}`. */
export const MAKER_KEY_PATTERN = '^[A-Za-z0-9_-]{43}$';

/** The badge of a maker's comments. */
export const MAKER_BADGE = 'Maker';
