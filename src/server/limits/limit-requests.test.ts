import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../core/runtime.ts';
import { DEFAULT_RATE_LIMITS, type RateLimits } from '../../settings/rate-limits.ts';
import { createRateLimiter, createTarpit } from './limit-requests.ts';

const perMinute = (amount: number) => ({ amount, seconds: 60 });
const LIMITS: RateLimits = {
  ...DEFAULT_RATE_LIMITS,
  upvote: { session: perMinute(2), network: perMinute(5) },
  comment: { session: perMinute(1), network: perMinute(3) },
  like: { session: perMinute(2), network: perMinute(5) },
  search: { network: { amount: 2, seconds: 1 } },
};

function limiterAt(startMs = 0) {
  const clock = { ms: startMs };
  return { clock, limiter: createRateLimiter(LIMITS, () => clock.ms) };
}

const visitor = (session: string, address = '192.0.2.1') => ({ session, address });

describe('rate limits', () => {
  test('a session is limited across all its addresses', () => {
    const { limiter } = limiterAt();
    const exceeded = ['192.0.2.1', '198.51.100.1', '203.0.113.1'].map(
      (address) => limiter.charge('upvote', visitor('a', address)).exceeded,
    );
    expect(exceeded).toEqual([[], [], ['session']]);
  });

  test('a network is limited across all its sessions', () => {
    const { limiter } = limiterAt();
    const exceeded = [1, 2, 3, 4, 5, 6].map((name) => limiter.charge('upvote', visitor(`made-up-${name}`)).exceeded);
    expect(exceeded.at(-1)).toEqual(['network']);
    expect(exceeded.slice(0, 5).flat()).toEqual([]);
    expect(limiter.charge('upvote', visitor('other', '192.0.3.1')).exceeded).toEqual([]);
  });

  test('an IPv6 /48 is limited across all its networks', () => {
    const { limiter } = limiterAt();
    const exceeded = Array.from(
      { length: 41 },
      (_, number) =>
        limiter.charge('upvote', visitor(`made-up-${number}`, `2001:db8:1:${number.toString(16)}::1`)).exceeded,
    );
    expect(exceeded.slice(0, 40).flat()).toEqual([]);
    expect(exceeded[40]).toEqual(['network']);
    expect(limiter.charge('upvote', visitor('other', '2001:db8:2::1'))).toMatchObject({
      exceeded: [],
      limits: [{ scope: 'session' }, { scope: 'network', amount: 5 }],
    });
  });

  test('each action is limited separately', () => {
    const { limiter } = limiterAt();
    limiter.charge('comment', visitor('a'));
    expect(limiter.charge('comment', visitor('a')).exceeded).toEqual(['session']);
    expect(limiter.charge('like', visitor('a')).exceeded).toEqual([]);
  });

  test('only the network is limited if the session is missing or invalid', () => {
    const { limiter } = limiterAt();
    const charge = limiter.charge('upvote', { session: undefined, address: undefined });
    expect(charge.limits).toEqual([{ scope: 'network', ...perMinute(5), remaining: 4, waitMs: 0, refillMs: 12_000 }]);
  });
});

test('a refusal by one limit takes no token from the other', () => {
  const { limiter } = limiterAt();
  for (let tried = 0; tried < 50; tried += 1) limiter.charge('upvote', visitor('greedy'));
  const { exceeded, limits } = limiter.charge('upvote', visitor('modest'));
  expect(exceeded).toEqual([]);
  expect(limits.map(({ scope, remaining }) => [scope, remaining])).toEqual([
    ['session', 1],
    ['network', 2],
  ]);
});

test('a refusal by the network limit takes no token from a new session, so no bucket is stored for that session', () => {
  const { limiter } = limiterAt();
  for (let name = 0; name < 5; name += 1) limiter.charge('upvote', visitor(`made-up-${name}`));
  const { exceeded, limits } = limiter.charge('upvote', visitor('made-up-5'));
  expect(exceeded).toEqual(['network']);
  expect(limits[0]).toEqual({ scope: 'session', ...perMinute(2), remaining: 2, waitMs: 0, refillMs: 0 });
});

test("a network's limits are not reset when the salt of its key changes", () => {
  const { clock, limiter } = limiterAt();
  limiter.charge('upvote', visitor('first'));
  clock.ms = HOUR_MS - 1;
  for (const name of ['a', 'b', 'c', 'd', 'e']) limiter.charge('upvote', visitor(name));
  clock.ms = HOUR_MS;
  expect(limiter.charge('upvote', visitor('f')).exceeded).toEqual(['network']);
  clock.ms += 12_000;
  expect(limiter.charge('upvote', visitor('f')).exceeded).toEqual([]);
});

test('an ignored limit is neither checked nor charged', () => {
  const { limiter } = limiterAt();
  for (const name of ['a', 'b', 'c', 'd', 'e']) limiter.charge('upvote', visitor(name));
  const { exceeded, limits } = limiter.charge('upvote', visitor('a'), 'network');
  expect(exceeded).toEqual([]);
  expect(limits.map(({ remaining }) => remaining)).toEqual([0, 0]);
  expect(limiter.charge('upvote', visitor('a'), 'network').exceeded).toEqual(['session']);
});

const isHeld = async (promise: Promise<void>) => {
  let over = false;
  promise.then(() => {
    over = true;
  });
  await new Promise(setImmediate);
  return !over;
};

test('after 300 refusals in a minute, further refusals are delayed, but only those of that network', async () => {
  let now = 0;
  const tarpit = createTarpit(() => now, 300);
  for (let refusal = 0; refusal < 300; refusal += 1) await tarpit.hold('192.0.2.1');
  const held = tarpit.hold('192.0.2.200');
  expect(await isHeld(held)).toBe(true);
  expect(await isHeld(tarpit.hold('198.51.100.1'))).toBe(false);
  now += 60_000;
  expect(await isHeld(tarpit.hold('192.0.2.1'))).toBe(false);
  await held;
});
