/**
 * The mutated code, and the tests that must detect its mutants. All tests that reach a mutant are run for it, so the
 * tests should be few.
 */
export interface Part {
  mutate: readonly string[];
  tests: readonly string[];
}

/** The minimum percentage of mutants that the tests must detect. */
export const MIN_SCORE = 85;

export const PARTS: Readonly<Record<string, Part>> = {
  upvotes: {
    mutate: ['src/core/upvotes/*.ts'],
    tests: ['src/core/upvotes/*.test.ts'],
  },
  comments: {
    mutate: ['src/core/comments/*.ts'],
    tests: ['src/core/comments/*.test.ts'],
  },
  // The parts of the search that need no database: folded texts, trigrams, cursors and the semaphore.
  terms: {
    mutate: [
      'src/core/search-text.ts',
      'src/core/keyset.ts',
      'src/core/products/search-trigrams.ts',
      'src/core/semaphore.ts',
    ],
    tests: ['src/core/{search-text,keyset,semaphore}.test.ts', 'src/core/products/search-trigrams.test.ts'],
  },
  search: {
    mutate: [
      'src/core/products/search-products.ts',
      'src/core/products/search-statements.ts',
      'src/core/products/search-trigrams.ts',
    ],
    tests: ['src/core/products/search-{products,index,trigrams,frequencies}.test.ts'],
  },
};
