/** What is mutated, and the tests that have to notice. Few and direct ones: every mutant costs a run of those that reach it. */
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
  // What a search is made of that needs no database: folded texts, trigrams, cursors, turns.
  terms: {
    mutate: [
      'src/core/search-text.ts',
      'src/core/keyset.ts',
      'src/core/products/search-trigrams.ts',
      'src/core/products/search-slots.ts',
    ],
    tests: ['src/core/{search-text,keyset}.test.ts', 'src/core/products/search-{trigrams,slots}.test.ts'],
  },
  search: {
    mutate: [
      'src/core/products/search-products.ts',
      'src/core/products/search-statements.ts',
      'src/core/products/search-index.ts',
      'src/core/products/search-shares.ts',
    ],
    tests: ['src/core/products/search-{products,index,shares}.test.ts'],
  },
};
