import { expect, test } from 'vitest';
import type { RowLock } from '../../src/core/database/citus.ts';
import { type BatchContent, setUpvotesStatement } from '../../src/core/upvotes/upvotes-statement.ts';

// Not beside the code: with this test, mutation testing of SQL would detect every mutant.

/** The variants that `setUpvotes` uses. On Citus, it locks no rows and does not check the cap. */
const VARIANTS: [name: string, lock: RowLock, networks: BatchContent['networks']][] = [
  ['no vote has a network', 'FOR UPDATE', 'none'],
  ['all votes are within the cap', 'FOR UPDATE', 'withinCap'],
  ['votes for a product come from different networks', 'FOR UPDATE', 'distinct'],
  ['votes for a product may share a network', 'FOR UPDATE', 'shared'],
  ['Citus, no vote has a network', '', 'none'],
  ['Citus, all other votes', '', 'withinCap'],
];

test.each([
  ['adds upvotes', 'add-upvotes.sql', false],
  ['adds and withdraws upvotes', 'add-and-withdraw-upvotes.sql', true],
] as const)('the statement that %s has the texts that %s shows', async (_name, file, removal) => {
  const texts = VARIANTS.map(([name, lock, networks]) => {
    const text = setUpvotesStatement(lock, { removal, networks });
    return `-- ${name}\n${text};\n`;
  });
  await expect(texts.join('\n')).toMatchFileSnapshot(`../../src/core/upvotes/${file}`);
});
