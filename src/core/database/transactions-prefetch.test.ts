import { describe, expect, test } from 'vitest';
import type { Sql } from './database.ts';
import { prefetchOne, serializeStatements } from './transactions.ts';

async function* numbers(count: number): AsyncGenerator<number> {
  for (let number = 1; number <= count; number += 1) yield number;
}

describe('prefetching one part', () => {
  test('all results arrive in order, and the next one is prepared while one is used', async () => {
    const begun: number[] = [];
    const used: [number, number][] = [];
    const prepare = async (part: number) => {
      begun.push(part);
      return part * 10;
    };
    for await (const result of prefetchOne(numbers(4), prepare)) used.push([result, begun.length]);
    expect(used).toEqual([
      [10, 2],
      [20, 3],
      [30, 4],
      [40, 4],
    ]);
  });

  test('a part that cannot be prepared fails when its turn comes', async () => {
    const seen: number[] = [];
    const reading = async () => {
      const prepare = async (part: number) => {
        if (part === 3) throw new Error('three');
        return part;
      };
      for await (const result of prefetchOne(numbers(5), prepare)) seen.push(result);
    };
    await expect(reading()).rejects.toThrow('three');
    expect(seen).toEqual([1, 2]);
  });
});

/** Creates a connection that records statements and responds when the test calls `respond`. */
function createConnection() {
  const sent: string[] = [];
  const waiting: { succeed(): void; fail(error: Error): void }[] = [];
  const sql: Sql = {
    query: (text) => {
      sent.push(text);
      return new Promise((resolve, reject) => waiting.push({ succeed: () => resolve([]), fail: reject }));
    },
  };
  const settled = () => new Promise(setImmediate);
  return {
    sql,
    sent,
    async respond(error?: Error): Promise<void> {
      await settled();
      const first = waiting.shift();
      if (error === undefined) first?.succeed();
      else first?.fail(error);
      await settled();
    },
  };
}

describe('serialized statements', () => {
  test('a statement is sent only after the previous one has finished', async () => {
    const connection = createConnection();
    const { sql } = serializeStatements(connection.sql);
    const all = Promise.all([sql.query('a'), sql.query('b')]);
    await connection.respond();
    expect(connection.sent).toEqual(['a', 'b']);
    await connection.respond();
    expect(await all).toEqual([[], []]);
  });

  test('after a failure, no statement is sent, and all later ones fail with the same error', async () => {
    const connection = createConnection();
    const { sql } = serializeStatements(connection.sql);
    const results = Promise.allSettled([sql.query('a'), sql.query('b'), sql.query('c')]);
    await connection.respond(new Error('deadlock'));
    expect((await results).map((each) => (each.status === 'rejected' ? each.reason.message : each.status))).toEqual(
      Array(3).fill('deadlock'),
    );
    expect(connection.sent).toEqual(['a']);
  });

  test('`end` waits for the running statement, and no later statement is sent', async () => {
    const connection = createConnection();
    const { sql, end } = serializeStatements(connection.sql);
    const results = Promise.allSettled([sql.query('a'), sql.query('b')]);
    await new Promise(setImmediate);
    let over = false;
    const ending = end().then(() => {
      over = true;
    });
    await new Promise(setImmediate);
    expect(over).toBe(false);
    await connection.respond();
    await ending;
    expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(connection.sent).toEqual(['a']);
  });
});
