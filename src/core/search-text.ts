/**
 * Folds text for case-insensitive substring search: NFKC, lower case, and `σ` for the Greek letter `ς`, which is the
 * form of `σ` at the end of a word. Folding a folded text again does not change it: NFKC is applied twice, because some
 * letters have a composed form only in lower case. Rows and search terms are folded in the same way.
 */
export function foldText(text: string): string {
  const safe = text.replaceAll(MANY_MARKS, '$&\u034f');
  return safe.normalize('NFKC').toLowerCase().normalize('NFKC').replaceAll('ς', 'σ');
}

/**
 * Matches thirty consecutive combining marks, or letters that NFKC converts to such marks, before another one. As in the
 * Stream-Safe Text Process (Unicode Standard Annex 15), a combining grapheme joiner is inserted there, because
 * normalizing a long run of marks takes quadratic time.
 */
const MANY_MARKS = /(?:(?!\u034f)[\p{M}\uff9e\uff9f]){30}(?=[\p{M}\uff9e\uff9f])(?!\u034f)/gu;

/** Returns the searchable text of a product: its folded name and description. */
export function searchTextOf(product: { name: string; description: string }): string {
  return foldText(`${product.name}\n${product.description}`);
}

/** Returns a `LIKE` pattern (with `ESCAPE '\'`) that matches the folded term literally at any position. */
export function likePattern(term: string): string {
  return likeInOrder([term]);
}

/** Returns a `LIKE` pattern that matches texts with all parts in this order, each literally. */
export function likeInOrder(parts: readonly string[]): string {
  return `%${parts.map((part) => foldText(part).replaceAll(/[\\%_]/g, '\\$&')).join('%')}%`;
}
