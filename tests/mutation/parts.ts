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
  search: {
    mutate: ['src/core/search-text.ts', 'src/core/keyset.ts', 'src/core/products/search-*.ts'],
    tests: ['src/core/{search-text,keyset}.test.ts', 'src/core/products/search-*.test.ts'],
  },
};
