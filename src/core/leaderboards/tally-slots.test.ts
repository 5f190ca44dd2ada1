import { describe, expect, test } from 'vitest';
import { createTallySlots, type TallySlots } from './read-tally.ts';

const LONG_MS = 600_000;

/** Begins a read that ends when `end` is called. */
async function begin(slots: TallySlots, reader?: string): Promise<{ end(): Promise<void> }> {
  let finish = () => {};
  let read: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    read = slots.run(reader, () => {
      resolve();
      return new Promise<void>((end) => {
        finish = end;
      });
    });
    read.catch(reject);
  });
  return {
    end() {
      finish();
      return read;
    },
  };
}

test('a slow reader delays only its own further requests', async () => {
  const slots = createTallySlots(10, LONG_MS);
  const slow = await begin(slots, 'slow');
  const next = Array.from({ length: 10 }, () => begin(slots, 'slow'));
  for (const other of ['one', 'two', 'one', 'two']) await (await begin(slots, other)).end();
  await slow.end();
  for (const request of next) await (await request).end();
});

describe('After the wait, a request is refused', () => {
  const refusal = { code: 'overloaded' };

  test('if its network reads a tally already', async () => {
    const slots = createTallySlots(10, 1);
    const first = await begin(slots, 'one');
    await expect(begin(slots, 'one')).rejects.toMatchObject(refusal);
    await first.end();
    await (await begin(slots, 'one')).end();
  });

  test.each([
    [10, 3],
    [4, 1],
    [2, 1],
  ])('if a pool of %i connections gives its share of %i to others', async (connections, tallies) => {
    const slots = createTallySlots(connections, 1);
    const others = await Promise.all(Array.from({ length: tallies }, (_, index) => begin(slots, `other-${index}`)));
    await expect(begin(slots, 'one')).rejects.toMatchObject(refusal);
    await expect(begin(slots)).rejects.toMatchObject(refusal);
    await others[0]?.end();
    await (await begin(slots, 'one')).end();
  });

  test('a failed read releases its slot', async () => {
    const slots = createTallySlots(2, 1);
    await expect(slots.run('one', () => Promise.reject(new Error('Failed')))).rejects.toThrow('Failed');
    await (await begin(slots, 'one')).end();
  });
});
