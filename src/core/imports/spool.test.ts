import { expect, test } from 'vitest';
import { type CheckedRow, Spool } from './spool.ts';

test('rows can be read in order any number of times, even after a reader stopped in the middle', async () => {
  const spool = await Spool.open();
  try {
    const rows = Array.from({ length: 3_000 }, (_, rowIndex) => ({
      rowIndex,
      line: rowIndex + 2,
      patch: { name: 'é'.repeat(200) },
    }));
    for (const row of rows) await spool.add(row);
    await spool.finish();
    const readAll = async () => {
      const found: CheckedRow[] = [];
      for await (const batch of spool.batches(500, () => true)) found.push(...batch);
      return found;
    };
    for await (const [first] of spool.batches(10, ({ rowIndex }) => rowIndex > 4)) {
      expect(first).toEqual(rows[5]);
      break;
    }
    expect(await readAll()).toEqual(rows);
    expect(await readAll()).toEqual(rows);
  } finally {
    await spool.close();
  }
});
