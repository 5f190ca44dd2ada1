/** Names the draft that a comment is made from: sent twice, it makes one comment. */
export const IDEMPOTENCY_HEADER = 'Idempotency-Key';

/** 1 to 200 visible ASCII characters. */
export const IDEMPOTENCY_KEY_PATTERN = '^[\\x21-\\x7e]{1,200}$';
