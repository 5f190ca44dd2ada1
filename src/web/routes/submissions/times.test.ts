import { afterEach, expect, test, vi } from 'vitest';
import { visitorTimeZone } from './times.ts';

const system = Intl.DateTimeFormat().resolvedOptions();

afterEach(() => vi.restoreAllMocks());

test.each([
  ['Asia/Tokyo', 'Asia/Tokyo'],
  ['Etc/Unknown', 'UTC'],
])('the visitor’s time zone %s is shown as %s', (timeZone, shown) => {
  vi.spyOn(Intl.DateTimeFormat.prototype, 'resolvedOptions').mockReturnValue({ ...system, timeZone });
  expect(visitorTimeZone()).toBe(shown);
});
