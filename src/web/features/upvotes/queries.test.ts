import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SESSION_HEADER, SESSION_PATTERN, SESSION_STORAGE_KEY } from '../../../contract/api.ts';
import * as paths from '../../../contract/paths.ts';
import { OUTBOX_KEY } from '../../storage/browser-store.ts';
import { batchUpvoteStatus } from './queries.ts';

test('the head script uses the same storage keys, header, URL and session ids as the app', () => {
  const script = readFileSync(new URL('../../head-script.ts', import.meta.url), 'utf8');
  for (const key of ['upvoted', SESSION_STORAGE_KEY, OUTBOX_KEY]) expect(script).toContain(`getItem('${key}')`);
  expect(script).toContain(`'${SESSION_HEADER}': session`);
  expect(script).toContain(`fetch(\`${paths.api.upvote('-').replace('-', '$' + '{encodeURIComponent(product)}')}\``);
  const [, pattern = ''] = /\/(\^session-.+)\/i/.exec(script) ?? [];
  for (const id of [
    'session-1',
    `session-${'x'.repeat(80)}`,
    'session-A_',
    'session-',
    `session-${'x'.repeat(100)}`,
    'x',
  ]) {
    expect(new RegExp(pattern, 'i').test(id), id).toBe(new RegExp(SESSION_PATTERN).test(id));
  }
});

function countingApi(respond: (ids: readonly string[]) => Promise<{ upvoted: string[] }>) {
  const requests: string[][] = [];
  return {
    requests,
    getUpvoted(ids: readonly string[]) {
      requests.push([...ids]);
      return respond(ids);
    },
  };
}

describe('batched reads of upvote statuses', () => {
  test('many products are read in one request that contains each id once', async () => {
    const api = countingApi(async () => ({ upvoted: ['b'] }));
    const getStatus = batchUpvoteStatus(api);
    expect(await Promise.all([getStatus('a'), getStatus('b'), getStatus('b'), getStatus('c')])).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(api.requests).toEqual([['a', 'b', 'c']]);
  });

  test('more products than one request may contain are read in several requests', async () => {
    const api = countingApi(async (ids) => ({ upvoted: [...ids] }));
    const getStatus = batchUpvoteStatus(api);
    const states = await Promise.all(Array.from({ length: 250 }, (_, index) => getStatus(`p${index}`)));
    expect(states.every(Boolean)).toBe(true);
    expect(api.requests.map((ids) => ids.length)).toEqual([100, 100, 50]);
  });

  test('a later read sends a new request', async () => {
    const api = countingApi(async () => ({ upvoted: [] }));
    const getStatus = batchUpvoteStatus(api);
    await getStatus('a');
    await getStatus('a');
    expect(api.requests).toEqual([['a'], ['a']]);
  });

  test('a failed request rejects every read with the same error, which the specification prescribes', async () => {
    const getStatus = batchUpvoteStatus(countingApi(() => Promise.reject(new Error('out of reach'))));
    const errors = await Promise.all(
      [getStatus('a'), getStatus('b')].map((status) => status.catch((error: unknown) => error)),
    );
    expect(errors[0]).toMatchObject({ message: 'Failed to check upvote status: out of reach' });
    expect(errors[1]).toBe(errors[0]);
  });
});
