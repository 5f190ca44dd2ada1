import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { ReadLimiter } from '../semaphore.ts';
import { createTallyLimiter } from './read-tally.ts';

const LONG_MS = 600_000;

/** Begins a read that ends when `end` is called. */
async function begin(limiter: ReadLimiter, reader?: string): Promise<{ end(): Promise<void> }> {
  let finish = () => {};
  let read: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    read = limiter.run(reader, () => {
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
  const limiter = createTallyLimiter(10, LONG_MS);
  const slow = await begin(limiter, 'slow');
  const next = Array.from({ length: 10 }, () => begin(limiter, 'slow'));
  for (const other of ['one', 'two', 'one', 'two']) await (await begin(limiter, other)).end();
  await slow.end();
  for (const request of next) await (await request).end();
});

test('each waiting request aborts one read whose turn is over, the longest-running first', async () => {
  const limiter = createTallyLimiter(10, LONG_MS, 1);
  const ended: string[] = [];
  for (const slow of ['first', 'second', 'third']) {
    void limiter.run(slow, async (turn) => {
      await once(turn, 'abort');
      ended.push(slow);
    });
  }
  const others: Awaited<ReturnType<typeof begin>>[] = [];
  for (const expected of [['first'], ['first', 'second'], ['first', 'second', 'third']]) {
    others.push(await begin(limiter, `other-${others.length}`));
    expect(ended).toEqual(expected);
  }
  for (const other of others) await other.end();
});

describe('the limiter of tallies', () => {
  const refusal = { code: 'overloaded' };

  test('a request is refused after the timeout if its network is already reading a tally', async () => {
    const limiter = createTallyLimiter(10, 1);
    const first = await begin(limiter, 'one');
    await expect(begin(limiter, 'one')).rejects.toMatchObject(refusal);
    await first.end();
    await (await begin(limiter, 'one')).end();
  });

  test.each([
    [10, 3],
    [4, 1],
    [2, 1],
  ])(
    'with a pool of %i connections, a request is refused after the timeout while %i tallies are being read',
    async (connections, tallies) => {
      const limiter = createTallyLimiter(connections, 1);
      const others = await Promise.all(Array.from({ length: tallies }, (_, index) => begin(limiter, `other-${index}`)));
      await expect(begin(limiter, 'one')).rejects.toMatchObject(refusal);
      await expect(begin(limiter)).rejects.toMatchObject(refusal);
      await others[0]?.end();
      await (await begin(limiter, 'one')).end();
    },
  );

  test('a read that fails releases its slot', async () => {
    const limiter = createTallyLimiter(2, 1);
    await expect(limiter.run('one', () => Promise.reject(new Error('Failed')))).rejects.toThrow('Failed');
    await (await begin(limiter, 'one')).end();
  });
});
