/**
 * Folds text for case-insensitive substring search: NFKC, lower case, and one form of the Greek sigma, whose lower case
 * depends on its place in the word. Rows and search terms go through the same fold, so that they meet.
 */
export function foldText(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ');
}

/** What a product is searched by. */
export function searchTextOf(product: { name: string; description: string }): string {
  return foldText(`${product.name}\n${product.description}`);
}

/** A `LIKE` pattern (with `ESCAPE '\'`) that finds the folded term anywhere, every character of it taken literally. */
export function likePattern(term: string): string {
  return likeInOrder([term]);
}

/** The same for several parts, one somewhere behind the other. */
export function likeInOrder(parts: readonly string[]): string {
  return `%${parts.map((part) => foldText(part).replaceAll(/[\\%_]/g, '\\$&')).join('%')}%`;
}
