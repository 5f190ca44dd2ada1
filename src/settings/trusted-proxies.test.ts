import { describe, expect, test } from 'vitest';
import { readTrustedProxies } from './trusted-proxies.ts';

describe('trusted addresses', () => {
  const cases: [setting: string, trusted: string[], others: string[]][] = [
    ['192.0.2.1', ['192.0.2.1', '::ffff:192.0.2.1'], ['192.0.2.2', '::1', '', 'unknown']],
    [
      '10.0.0.0/8',
      ['10.0.0.1', '10.255.255.255', '::ffff:10.1.2.3', '10.0.0.1:4711'],
      ['11.0.0.1', '9.255.255.255', '11.0.0.1:4711'],
    ],
    ['10.1.2.3/8', ['10.200.0.1'], ['11.0.0.1']],
    ['2001:db8::/32', ['2001:db8::1', '2001:DB8:ffff::', '[2001:db8::1]:4711'], ['2001:db9::1', '32.1.13.184']],
    ['::ffff:192.0.2.0/120', ['192.0.2.9', '::ffff:192.0.2.9'], ['192.0.3.9']],
    ['loopback', ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'], ['10.0.0.1', '::2']],
    ['LinkLocal', ['169.254.1.1', 'fe80::1', 'fe80::1%eth0'], ['169.253.1.1']],
    ['uniquelocal', ['10.0.0.1', '172.31.0.1', '192.168.1.1', 'fd00::1'], ['172.32.0.1', '192.0.2.1']],
    [' loopback , 192.0.2.1,, 2001:db8::7 ', ['::1', '192.0.2.1', '2001:db8::7'], ['192.0.2.2']],
  ];
  for (const [setting, trusted, others] of cases) {
    test(`TRUST_PROXY=${setting} trusts its addresses and no others`, () => {
      const isTrusted = readTrustedProxies(setting);
      expect(trusted.filter((address) => !isTrusted(address))).toEqual([]);
      expect(others.filter(isTrusted)).toEqual([]);
    });
  }
});

describe('invalid values', () => {
  test.each([
    [' , ', "' , ' contains no address"],
    ['true', "'true' is not an address"],
    ['1', "'1' is not an address"],
    ['*', "'*' is not an address"],
    ['127.1', "'127.1' is not an address"],
    ['0x7f000001', "'0x7f000001' is not an address"],
    ['proxy.example', "'proxy.example' is not an address"],
    ['loopback, 10.0.0.256', "'10.0.0.256' is not an address"],
    ['10.0.0.0/8/8', "'10.0.0.0/8/8' is not an address"],
    ['10.0.0.0/', "'10.0.0.0/' is not a range"],
    ['10.0.0.0/33', "'10.0.0.0/33' is not a range"],
    ['10.0.0.0/255.0.0.0', "'10.0.0.0/255.0.0.0' is not a range"],
    ['2001:db8::/129', "'2001:db8::/129' is not a range"],
    ['0.0.0.0/0', "'0.0.0.0/0' trusts everyone"],
    ['::/0', "'::/0' trusts everyone"],
    ['::ffff:0:0/96', 'covers all IPv4'],
    ['fe80::1%eth0', "'fe80::1%eth0' is not an address"],
  ])('the error for TRUST_PROXY=%s names the invalid part', (setting, message) => {
    expect(() => readTrustedProxies(setting)).toThrow(message);
  });
});
