import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CoreError } from './core-error.ts';
import { afterCursor, isCursorOf, type KeysetOrder, orderBy, pageOf, upToCursor } from './keyset.ts';

interface Row {
  likes: number;
  createdAt: string;
  id: string;
  slug: string;
}

const ROW: Row = {
  likes: 7,
  createdAt: '2026-03-01T10:20:30.456Z',
  id: '5a3b1e00-0000-4000-8000-000000000001',
  slug: 'git',
};

const ORDER: KeysetOrder<Row> = {
  name: 'best',
  direction: 'DESC',
  columns: [
    { sql: 'likes', kind: 'count', keyOf: (row) => row.likes },
    { sql: 'created_at', kind: 'time', keyOf: (row) => row.createdAt },
    { sql: 'id', kind: 'uuid', keyOf: (row) => row.id },
  ],
};

const SLUG_ORDER: KeysetOrder<Row> = {
  name: 'slug',
  direction: 'ASC',
  columns: [{ sql: 'slug', kind: 'productId', keyOf: (row) => row.slug }],
};

const encode = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url');

function cursorAfter(row: Row): string {
  const { nextCursor } = pageOf(ORDER, [row, row], 1);
  if (nextCursor === null) throw new Error('There should be another page');
  return nextCursor;
}

function bound(order: KeysetOrder<Row>, cursor: string): { sql: string; values: unknown[] } {
  const values: unknown[] = [];
  return { sql: afterCursor(order, cursor, (value, type) => `$${values.push(value)}::${type}`), values };
}

describe('pages', () => {
  test('a page omits the extra row, and its cursor continues after the last row shown', () => {
    const rows = [1, 2, 3].map((likes) => ({ ...ROW, likes }));
    const { shown, nextCursor } = pageOf(ORDER, rows, 2);
    expect(shown.map((row) => row.likes)).toEqual([1, 2]);
    expect(nextCursor).toBe(cursorAfter({ ...ROW, likes: 2 }));
  });

  test('a full page without a further row is the last page', () => {
    expect(pageOf(ORDER, [ROW, ROW], 2).nextCursor).toBeNull();
  });

  test('an empty list has no next page', () => {
    expect(pageOf(ORDER, [], 30)).toEqual({ shown: [], nextCursor: null });
  });
});

describe('cursors', () => {
  test('a cursor becomes one row comparison in the direction of the order, with bound and typed values', () => {
    expect(bound(ORDER, cursorAfter(ROW))).toEqual({
      sql: '(likes, created_at, id) < ($1::integer, $2::timestamptz, $3::uuid)',
      values: [7, '2026-03-01T10:20:30.456Z', '5a3b1e00-0000-4000-8000-000000000001'],
    });
    expect(bound(SLUG_ORDER, encode(['slug', 'git']))).toEqual({ sql: '(slug) > ($1::text)', values: ['git'] });
  });

  test('the ORDER BY clause names the columns of the order, each in its direction', () => {
    expect(orderBy(ORDER)).toBe('likes DESC, created_at DESC, id DESC');
    expect(orderBy(SLUG_ORDER)).toBe('slug ASC');
  });

  test('the cursor of any row is accepted', () => {
    const anyRow = fc.record({
      likes: fc.integer({ min: 0, max: 2_147_483_647 }),
      createdAt: fc
        .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
        .map((date) => date.toISOString()),
      id: fc.uuid(),
      slug: fc.stringMatching(/^[a-z0-9-]{1,64}$/),
    });
    fc.assert(
      fc.property(anyRow, (row) => {
        expect(bound(ORDER, cursorAfter(row)).values).toEqual([row.likes, row.createdAt, row.id]);
      }),
    );
  });

  test('`upToCursor` matches the row of the cursor and the rows before it', () => {
    const upTo = (order: KeysetOrder<Row>, cursor: string) =>
      upToCursor(order, cursor, (value, type) => `${JSON.stringify(value)}::${type}`);
    expect(upTo(ORDER, encode(['best', 7, ROW.createdAt, ROW.id]))).toBe(
      `(likes, created_at, id) >= (7::integer, "${ROW.createdAt}"::timestamptz, "${ROW.id}"::uuid)`,
    );
    expect(upTo(SLUG_ORDER, encode(['slug', 'git']))).toBe('(slug) <= ("git"::text)');
    expect(() => upTo(SLUG_ORDER, encode(['slug', '']))).toThrow(expect.objectContaining({ code: 'bad_cursor' }));
  });

  test.each([0, 2_147_483_647])('a cursor with a count of %i is accepted', (likes) => {
    expect(isCursorOf(ORDER, encode(['best', likes, ROW.createdAt, ROW.id]))).toBe(true);
  });

  test('a cursor of another order is refused', () => {
    expect(isCursorOf(SLUG_ORDER, cursorAfter(ROW))).toBe(false);
    expect(isCursorOf(ORDER, encode(['newest', 7, ROW.createdAt, ROW.id]))).toBe(false);
  });

  test.each([
    ['an empty text', ''],
    ['text that is not base64', '!!!'],
    ['text that is not JSON', Buffer.from('best,7').toString('base64url')],
    ['a truncated cursor', encode(['best', 7, ROW.createdAt, ROW.id]).slice(0, -8)],
    ['an object', encode({ name: 'best' })],
    ['null', encode(null)],
    ['too few keys', encode(['best', 7, ROW.createdAt])],
    ['too many keys', encode(['best', 7, ROW.createdAt, ROW.id, 1])],
    ['a negative count', encode(['best', -1, ROW.createdAt, ROW.id])],
    ['a count that is not an integer', encode(['best', 1.5, ROW.createdAt, ROW.id])],
    ['a count beyond PostgreSQL’s integer', encode(['best', 2_147_483_648, ROW.createdAt, ROW.id])],
    ['a count as text', encode(['best', '7', ROW.createdAt, ROW.id])],
    ['a time that does not exist', encode(['best', 7, '2026-02-30T00:00:00.000Z', ROW.id])],
    ['a time in words', encode(['best', 7, 'yesterday', ROW.id])],
    ['a time in a negative year', encode(['best', 7, '-000001-01-01T00:00:00.000Z', ROW.id])],
    ['a time in the year 0', encode(['best', 7, '0000-01-01T00:00:00.000Z', ROW.id])],
    ['a list instead of an id', encode(['best', 7, ROW.createdAt, [ROW.id]])],
    ['an id that is not a UUID', encode(['best', 7, ROW.createdAt, "'; DROP TABLE comments; --"])],
  ])('%s is refused as bad_cursor', (_what, cursor) => {
    const message = 'This cursor does not belong to this list. Start again without one.';
    expect(() => bound(ORDER, cursor)).toThrow(expect.objectContaining({ code: 'bad_cursor', message }));
    expect(isCursorOf(ORDER, cursor)).toBe(false);
  });

  test('any text is either accepted as a cursor or refused with a CoreError', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json().map(encodeText), fc.base64String()), (text) => {
        try {
          bound(ORDER, text);
        } catch (error) {
          expect(error).toBeInstanceOf(CoreError);
        }
      }),
    );
  });

  test('a product id in a cursor must be valid', () => {
    expect(isCursorOf(SLUG_ORDER, encode(['slug', 'git']))).toBe(true);
    expect(isCursorOf(SLUG_ORDER, encode(['slug', 'Ge it']))).toBe(false);
    expect(isCursorOf(SLUG_ORDER, encode(['slug', 7]))).toBe(false);
    expect(isCursorOf(SLUG_ORDER, encode(['slug', ['git']]))).toBe(false);
    expect(isCursorOf(SLUG_ORDER, encode(['slug', 'x'.repeat(65)]))).toBe(false);
  });
});

function encodeText(json: string): string {
  return Buffer.from(json).toString('base64url');
}
