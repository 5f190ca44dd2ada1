/**
 * The mutated code, and the tests that must notice. Few and direct ones, since every mutant runs those that reach it.
 */
export interface Part {
  mutate: readonly string[];
  tests: readonly string[];
}

export const PARTS: Readonly<Record<string, Part>> = {
  upvotes: {
    mutate: ['src/core/upvotes/*.ts'],
    tests: ['src/core/upvotes/*.test.ts'],
  },
  comments: {
    mutate: ['src/core/comments/*.ts'],
    tests: ['src/core/comments/*.test.ts'],
  },
  // The parts of a search without a database: folded texts, trigrams, cursors, slots.
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
    tests: ['src/core/products/search-{products,index,shares}.test.ts'],
  },
};
