import { beforeEach, describe, expect, test } from 'vitest';
import { createTestClock } from '../../../../tests/support/test-clock.ts';
import { createSignInLimits, type SignInAttempt, type SignInLimits } from './sign-in.ts';

let clock: ReturnType<typeof createTestClock>;
let limits: SignInLimits;

beforeEach(() => {
  clock = createTestClock();
  limits = createSignInLimits(clock.monotonicMs);
});

const attempt = (given: Partial<SignInAttempt> = {}) =>
  limits.charge({ name: 'ada', address: '192.0.2.1', knownDevice: undefined, ...given });
const isRefused = (given: Partial<SignInAttempt> = {}) => {
  try {
    attempt(given).refund();
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'rate_limited' });
    return true;
  }
};

test('a network has ten guesses in ten minutes for any names, not counting refunded ones', () => {
  for (let index = 0; index < 30; index += 1) attempt().refund();
  for (let index = 0; index < 10; index += 1) attempt({ name: `name-${index}`, address: `192.0.2.${index}` });
  expect(isRefused()).toBe(true);
  expect(isRefused({ address: '198.51.100.1' })).toBe(false);
  clock.advance({ milliseconds: 60_000 });
  expect(isRefused()).toBe(false);
});

test('all networks of an IPv6 /48 together have eighty guesses', () => {
  for (let index = 0; index < 80; index += 1) attempt({ name: `name-${index}`, address: `2001:db8:1:${index}::1` });
  expect(isRefused({ address: '2001:db8:1:ffff::1' })).toBe(true);
  expect(isRefused({ address: '2001:db8:2::1' })).toBe(false);
});

describe.each(['ada', 'nobody'])('the name %s', (name) => {
  test('all networks together have sixty guesses an hour for one name, and a known device has ten more', () => {
    for (let index = 0; index < 60; index += 1) attempt({ name, address: `198.51.${index}.1` });
    expect(isRefused({ name, address: '203.0.113.1' })).toBe(true);
    expect(isRefused({ name: 'grace', address: '203.0.113.1' })).toBe(false);
    const known = { name, address: '198.51.0.1', knownDevice: 'device' };
    for (let index = 0; index < 10; index += 1) attempt(known);
    expect(isRefused(known)).toBe(true);
    expect(isRefused({ ...known, knownDevice: 'another' })).toBe(false);
    clock.advance({ milliseconds: 60_000 });
    expect([isRefused(known), isRefused({ name, address: '203.0.113.1' })]).toEqual([false, false]);
  });
});
