import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linksInText, partsOfText } from './user-text.tsx';

const linksIn = (text: string) => linksInText(text).flatMap((part) => (part.kind === 'link' ? [part.text] : []));

describe("links in visitors' texts", () => {
  test.each([
    ['see https://example.com/a', 'https://example.com/a'],
    ['see https://example.com/a.', 'https://example.com/a'],
    ['(https://example.com/a)', 'https://example.com/a'],
    ['https://example.com/a_(b)', 'https://example.com/a_(b)'],
    ['really https://example.com/?q=1!?', 'https://example.com/?q=1'],
    ['HTTP://EXAMPLE.COM/A', 'HTTP://EXAMPLE.COM/A'],
    ['http://[::1]:3000/', 'http://[::1]:3000/'],
    ['https://💩.la/x', 'https://💩.la/x'],
  ])('%s contains the link %s', (text, link) => {
    expect(linksIn(text)).toEqual([link]);
  });

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'www.example.com',
    'https://',
    'ftp://example.com',
    'https:///a',
    'httpſ://example.com',
    'https://example.com:port/db',
    `http://${'語'.repeat(254)}/a`,
    `https:\\/\\${'語'.repeat(254)}`,
  ])('%s stays plain text', (text) => {
    expect(linksInText(text)).toEqual([{ kind: 'text', text }]);
  });

  test('a long run of closing brackets after a URL is not part of the link', () => {
    expect(linksIn(`https://example.com/(a)${')'.repeat(100_000)}`)).toEqual(['https://example.com/(a)']);
  });

  test('only http and https URLs are linked, and the parts together are the original text', () => {
    const text = fc
      .array(fc.oneof(fc.string(), fc.webUrl(), fc.constantFrom(' ', '(', ')', '.', 'https://')))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (written) => {
        const parts = linksInText(written);
        expect(parts.map((part) => part.text).join('')).toBe(written);
        for (const link of linksIn(written)) expect(link).toMatch(/^https?:\/\//i);
      }),
    );
  });
});

describe('code in texts', () => {
  test.each([
    ['run `npm ci` first', ['run ', ['code', 'npm ci'], ' first']],
    ['a ` lonely backtick', ['a ` lonely backtick']],
    ['`https://example.com` is no link', [['code', 'https://example.com'], ' is no link']],
    ['see\n```js\nlet a = `b`;\n\nb()\n```\nthere', ['see\n', ['block', 'let a = `b`;\n\nb()'], 'there']],
    ['```\nnever closed', ['```\nnever closed']],
    ['```npm install foo\n```', [['block', 'npm install foo']]],
    ['```npm install foo\nnpm start```', [['block', 'npm install foo\nnpm start']]],
    ['```make\n```\ndone', [['block', 'make'], 'done']],
    ['```make\n\n```', [['block', 'make\n']]],
    ['```js\r\ncode\r\n```', [['block', 'code\r']]],
    ['``````', ['``````']],
    ['````js\ncode\n````', ['````js\ncode\n````']],
    ['```let a = 1;``` is code', [['block', 'let a = 1;'], 'is code']],
  ])('%j is split into text and code', (text, parts) => {
    expect(partsOfText(text).map((part) => (part.kind === 'text' ? part.text : [part.kind, part.text]))).toEqual(parts);
  });

  test.each(['`a` ', 'http://a ', '`a`http://a ', '```\n', '`', '```a\n`'])(
    'a thousand repetitions of %j are split into about 100 parts at most, and the rest stays plain text',
    (text) => {
      const repeated = text.repeat(1_000);
      const parts = partsOfText(repeated);
      expect(parts.length).toBeLessThan(105);
      if (parts.length > 100) expect(parts.filter(({ kind }) => kind !== 'text').length).toBeGreaterThanOrEqual(50);
      const rest = parts.at(-1)?.text ?? '';
      expect(repeated.endsWith(rest)).toBe(true);
      expect(rest.length).toBeGreaterThan(0.7 * repeated.length);
    },
  );
});
