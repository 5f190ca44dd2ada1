import { describe, expect, test } from 'vitest';
import { createTestClock } from '../../../tests/support/test-clock.ts';
import { lastWriteElsewhere, lastWriteOf, setLastWriteCookie } from './last-write-cookie.ts';

/** Returns the cookie that this process sets now. */
function cookieOf(clock: ReturnType<typeof createTestClock>): string {
  const headers: string[] = [];
  const reply = { header: (_name: string, value: string) => headers.push(value) };
  setLastWriteCookie(reply as never, clock, clock.now);
  return headers[0]?.split(';', 1)[0] ?? '';
}

const ofAnother = (cookie: string) => cookie.replace(/_[\da-f]{8}=/, '_00000000=');
const claim = (cookie: string, clock: ReturnType<typeof createTestClock>) =>
  lastWriteOf({ headers: { cookie } }, clock, clock.now);

describe('cookies of this process', () => {
  test('a cookie of this process yields the time of the write, even if the system clock jumps', () => {
    const clock = createTestClock();
    clock.advance({ hours: 1 });
    const cookie = cookieOf(clock);
    const written = clock.monotonicMs();
    for (const hours of [-2, 4]) {
      clock.shiftWallClock({ hours });
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

test('after concurrent writes in several processes, each process must send newer API responses', () => {
  const clock = createTestClock();
  clock.advance({ hours: 1 });
  const own = cookieOf(clock);
  const other = ofAnother(own);
  for (const cookies of [`${own}; ${other}`, `${other}; ${own}`]) {
    expect(lastWriteElsewhere({ headers: { cookie: cookies } }, clock, clock.now)).toBe(clock.monotonicMs());
  }
});

test('with cookies of several processes, the last write counts', () => {
  const clock = createTestClock();
  const older = ofAnother(cookieOf(clock));
  clock.advance({ milliseconds: 5_000 });
  const cookies = `${older}; ${cookieOf(clock)}`;
  const written = clock.monotonicMs();
  clock.advance({ milliseconds: 2_000 });
  expect(claim(cookies, clock)).toBe(written);
  expect(lastWriteElsewhere({ headers: { cookie: cookies } }, clock, clock.now)).toBe(written - 4_500);
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
    clock.shiftWallClock({ hours });
    clock.advance({ milliseconds: 1_000 });
    expect(claim(cookie, clock)).toBe(clock.monotonicMs());
  });
});

test('a forged cookie never yields a time in the future', () => {
  const clock = createTestClock();
  clock.advance({ hours: 1 });
  for (const cookie of ['last_write_00000000=1-999999999999999', cookieOf(clock).replace(/=\d+-/, '=999999999999999-')])
    expect(claim(cookie, clock)).toBe(clock.monotonicMs());
});
