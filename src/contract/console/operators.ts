/** The length of a passphrase in Unicode code points. The upper bound only keeps requests small. */
export const PASSPHRASE_CHARACTERS = { min: 12, max: 1_000 } as const;

/** The name of an operator. Upper case is not allowed, so two names cannot differ only in case. */
export const OPERATOR_NAME_PATTERN = '^[a-z0-9][a-z0-9._-]{0,31}$';

const OPERATOR_NAME = new RegExp(OPERATOR_NAME_PATTERN);

export function isOperatorName(text: string): boolean {
  return OPERATOR_NAME.test(text);
}
