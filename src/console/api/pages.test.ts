import { QueryClient } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { consoleKeys } from './console-api.ts';
import { changeItems, pagesOf, recordPage } from './pages.ts';

test.each([
  ['the page of the visible rows', [50, 50, 50], [60, 70], [1, 1]],
  ['the next page before its rows are visible', [50, 50, 50], [60, 80], [1, 2]],
  ['the first page of a search while only empty pages are known', [0, 0, undefined], [0, 0], [0, 2]],
  ['the first page of a search whose only row is on a later page', [0, 0, 1], [0, 0], [0, 2]],
  ['the empty pages between the visible rows and the end of a search', [1, 0, 0], [0, 0], [0, 2]],
  ['no empty pages before a later page', [50, 0, 0, 50, 50], [60, 65], [3, 3]],
])('a list loads %s', (_what, rows, [first = 0, last = 0], [firstPage, lastPage]) => {
  const pages = pagesOf(
    rows.map((each) => ({ rows: each })),
    first,
    last,
  );
  expect(pages).toEqual({ first: firstPage, last: lastPage });
});

test('an empty page of a search keeps its cursor, so it is not loaded again until rows move to it', () => {
  const pageStarts = [{ cursor: '', rows: undefined }];
  const record = (page: number, ids: string[], nextCursor: string) =>
    recordPage(pageStarts, page, { items: ids.map((id) => ({ id })), nextCursor });
  const cursors = () => pageStarts.map(({ cursor }) => cursor);
  record(0, ['b', 'a'], 'before 1');
  record(1, [], 'before 2');
  record(0, ['c', 'b', 'a'], 'before 1, moved');
  expect(cursors()).toEqual(['', 'before 1', 'before 2']);
  record(0, ['d', 'c', 'b'], 'before a');
  record(0, ['d', 'c', 'b'], 'before a');
  expect(cursors()).toEqual(['', 'before a', 'before 2']);
  record(1, ['a'], 'before 2, moved');
  expect(cursors()).toEqual(['', 'before a', 'before 2, moved']);
  record(0, ['e', 'd', 'c'], 'before b');
  expect(cursors()).toEqual(['', 'before b', 'before 2, moved']);
});

test('a page that the operator’s own change has emptied gets a new cursor, because the server still has rows for it', () => {
  const client = new QueryClient();
  const pageStarts = [{ cursor: '', rows: undefined }];
  const itemsFrom = (first: number) => Array.from({ length: 50 }, (_, row) => ({ id: String(first + row) }));
  const keyOf = (page: number) => consoleKeys.page('queue', '/queue', {}, String(page));
  const record = (page: number) =>
    recordPage(pageStarts, page, client.getQueryData(keyOf(page)) ?? expect.unreachable());
  for (const page of [0, 1, 2]) {
    client.setQueryData(keyOf(page), { items: itemsFrom(50 * page), nextCursor: `after ${50 * page + 49}` });
    record(page);
  }
  const undo = changeItems<{ id: string }>(client, 'queue', (item) => (Number(item.id) < 100 ? undefined : item));
  for (const page of [0, 1, 2]) record(page);
  expect(pageStarts).toMatchObject([{ isEmpty: false }, { isEmpty: false }, { isEmpty: false }, {}]);
  client.setQueryData(keyOf(0), { items: itemsFrom(100), nextCursor: 'after 149' });
  record(0);
  expect(pageStarts[1]).toMatchObject({ cursor: 'after 149' });
  undo();
  record(1);
  expect(pageStarts[1]).toMatchObject({ rows: 50, isEmpty: false });
});
