import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../core/runtime.ts';
import { createNetworkKeys, networkPrefix } from './network-keys.ts';

const same = (left: string, right: string) =>
  Buffer.from(networkPrefix(left)).equals(Buffer.from(networkPrefix(right)));

describe('prefixes', () => {
  test.each([
    ['192.0.2.1', '192.0.2.255'],
    ['192.0.2.1', '::ffff:192.0.2.77'],
    ['192.0.2.1', '::ffff:c000:0263'],
    ['192.0.2.1', '192.0.2.9:4711'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['2001:db8:1:2::1', '2001:0DB8:0001:0002:0:0:0:1'],
    ['2001:db8:1:2::1', '[2001:db8:1:2::9]:4711'],
    ['2001:db8:1:2::1', '[2001:db8:1:2::9]'],
    ['fe80::1%eth0', 'fe80::2%eth1'],
    ['unknown', '_hidden'],
    ['unknown', ''],
    ['unknown', '999.1.1.1'],
  ])('%s and %s belong to the same network', (left, right) => {
    expect(same(left, right)).toBe(true);
  });

  test.each([
    ['192.0.2.1', '192.0.3.1'],
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['192.0.2.1', 'c000:200::'],
    ['192.0.2.1', 'unknown'],
    ['127.0.0.1', '::1'],
  ])('%s and %s belong to different networks', (left, right) => {
    expect(same(left, right)).toBe(false);
  });
});

describe('keys', () => {
  test('keys differ between processes and contain no part of the address', () => {
    const [one, other] = [1, 2].map(() => createNetworkKeys(() => 0)('192.0.2.1').current);
    expect(one).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect(one).not.toBe(other);
  });

  test('keys change every hour with the salt, and the previous key remains available for another hour', () => {
    let now = 0;
    const keys = createNetworkKeys(() => now);
    const first = keys('192.0.2.1');
    expect(first.previous()).toBeUndefined();
    now += HOUR_MS - 1;
    expect(keys('192.0.2.2').current).toBe(first.current);
    now += 1;
    const second = keys('192.0.2.1');
    expect(second.current).not.toBe(first.current);
    expect(second.previous()).toBe(first.current);
    now += HOUR_MS;
    expect(keys('192.0.2.1').previous()).toBe(second.current);
  });

  test('the previous salt is discarded after two hours without use', () => {
    let now = 10 * HOUR_MS;
    const keys = createNetworkKeys(() => now);
    keys('192.0.2.1');
    now += 2 * HOUR_MS;
    expect(keys('192.0.2.1').previous()).toBeUndefined();
  });
});
