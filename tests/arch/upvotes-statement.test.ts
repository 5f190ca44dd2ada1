import { expect, test } from 'vitest';
import { type BatchContent, setUpvotesStatement } from '../../src/core/upvotes/upvotes-statement.ts';

// This test is not next to the code, because mutation testing would run it, and its snapshots detect every mutant.

/** The variants that `setUpvotes` uses. On Citus, `setUpvotes` does not check the cap. */
const VARIANTS: [name: string, networks: BatchContent['networks']][] = [
  ['all added votes are within the cap', 'withinCap'],
  ['added votes for a product come from different networks', 'distinct'],
  ['added votes for a product may share a network', 'shared'],
];
test.each([
  ['adds upvotes', 'add-upvotes.sql', false],
  ['adds and withdraws upvotes', 'add-and-withdraw-upvotes.sql', true],
] as const)('the variants of the statement that %s match the snapshot %s', async (_name, file, removal) => {
  const texts = [false, true].flatMap((decisions) =>
    VARIANTS.map(([name, networks]) => {
      const text = setUpvotesStatement({ removal, networks, decisions });
      return `-- Variant: ${name}${decisions ? ', and products have decisions' : ''}\n${text};\n`;
    }),
  );
  const contents = ['-- Snapshot written by tests/arch/upvotes-statement.test.ts. Do not edit.\n', ...texts].join('\n');
  await expect(contents).toMatchFileSnapshot(`../../src/core/upvotes/${file}`);
});
