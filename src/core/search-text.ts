/**
 * Folds text for case-insensitive substring search: NFKC, lower case, and one form of the Greek sigma, whose lower
 * case depends on its position. Rows and search terms are folded alike.
 */
export function foldText(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ');
}

/** The searched text of a product. */
export function searchTextOf(product: { name: string; description: string }): string {
  return foldText(`${product.name}\n${product.description}`);
}

/** A `LIKE` pattern (with `ESCAPE '\'`) that matches the folded term anywhere, each character literally. */
export function likePattern(term: string): string {
  return likeInOrder([term]);
}

/** A `LIKE` pattern that matches texts with all parts in this order, each character literally. */
export function likeInOrder(parts: readonly string[]): string {
  return `%${parts.map((part) => foldText(part).replaceAll(/[\\%_]/g, '\\$&')).join('%')}%`;
}
