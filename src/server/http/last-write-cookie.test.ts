import { describe, expect, test } from 'vitest';
import { createTestClock } from '../../../tests/support/test-clock.ts';
import { lastWriteElsewhere, lastWriteOf, setLastWriteCookie } from './last-write-cookie.ts';

/** Returns the cookie that this process sets now in response to a request with the given one. */
function cookieOf(clock: ReturnType<typeof createTestClock>, cookie?: string): string {
  const headers: string[] = [];
  const reply = { header: (_name: string, value: string) => headers.push(value), request: { headers: { cookie } } };
  setLastWriteCookie(reply as never, clock, clock.now);
  return headers[0]?.split(';', 1)[0] ?? '';
}

const ofAnother = (cookie: string) => cookie.replace(/=[\da-f]{8}/, '=00000000');
const claim = (cookie: string, clock: ReturnType<typeof createTestClock>) =>
  lastWriteOf({ headers: { cookie } }, clock, clock.now);

describe('cookies of this process', () => {
  test('a cookie of this process yields the time of the write, even if the system clock jumps', () => {
    const clock = createTestClock();
    clock.advance({ hours: 1 });
    const cookie = cookieOf(clock);
    const written = clock.monotonicMs();
    for (const hours of [-2, 4]) {
      clock.setTimeOfDay({ hours });
      clock.advance({ milliseconds: 1_000 });
      expect(claim(cookie, clock)).toBe(written);
    }
  });

  test('a cookie of this process requires no newer API response, since the write invalidated the cached one', () => {
    const clock = createTestClock();
    const cookie = cookieOf(clock);
    expect(lastWriteElsewhere({ headers: { cookie } }, clock, clock.now)).toBeUndefined();
  });
});

test('after writes in another process and in this one, both must send newer API responses', () => {
  const clock = createTestClock();
  clock.advance({ hours: 1 });
  const elsewhere = (cookie: string) => lastWriteElsewhere({ headers: { cookie } }, clock, clock.now);
  const ofBoth = cookieOf(clock, ofAnother(cookieOf(clock)));
  for (const cookie of [ofBoth, cookieOf(clock, ofBoth)]) expect(elsewhere(cookie)).toBe(clock.monotonicMs());
  expect(elsewhere(cookieOf(clock, cookieOf(clock)))).toBeUndefined();
});

describe('cookies of another process', () => {
  test('a cookie of another process yields a time after the write even if the clocks differ by half a second', () => {
    const clock = createTestClock();
    const cookie = ofAnother(cookieOf(clock));
    const written = clock.monotonicMs();
    clock.advance({ milliseconds: 3_500 });
    expect(claim(cookie, clock)).toBe(written + 500);
    expect(lastWriteElsewhere({ headers: { cookie } }, clock, clock.now)).toBe(written + 500);
  });

  test.each([-2, 2])('a cookie of another process yields the current time if the clock jumped by %d hours', (hours) => {
    const clock = createTestClock();
    const cookie = ofAnother(cookieOf(clock));
    clock.setTimeOfDay({ hours });
    clock.advance({ milliseconds: 1_000 });
    expect(claim(cookie, clock)).toBe(clock.monotonicMs());
  });
});

test('a forged cookie never yields a time in the future', () => {
  const clock = createTestClock();
  clock.advance({ hours: 1 });
  for (const cookie of ['last_write=00000000-1-999999999999999', cookieOf(clock).replace(/-\d+-/, '-999999999999999-')])
    expect(claim(cookie, clock)).toBe(clock.monotonicMs());
});
