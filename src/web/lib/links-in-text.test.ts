import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linksInText } from './links-in-text.ts';

const hrefsIn = (text: string) => linksInText(text).flatMap((part) => (part.kind === 'link' ? [part.href] : []));

describe('links in what a visitor wrote', () => {
  test.each([
    ['see https://example.com/a', 'https://example.com/a'],
    ['see https://example.com/a.', 'https://example.com/a'],
    ['(https://example.com/a)', 'https://example.com/a'],
    ['https://example.com/a_(b)', 'https://example.com/a_(b)'],
    ['really https://example.com/?q=1!?', 'https://example.com/?q=1'],
    ['HTTP://EXAMPLE.COM/A', 'http://example.com/A'],
  ])('%s leads to %s', (text, href) => {
    expect(hrefsIn(text)).toEqual([href]);
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', 'www.example.com', 'https://', 'ftp://example.com'])(
    '%s stays text',
    (text) => {
      expect(linksInText(text)).toEqual([{ kind: 'text', text }]);
    },
  );

  test('a long row of brackets behind an address takes no longer than it is', () => {
    expect(hrefsIn(`https://example.com/(a)${')'.repeat(100_000)}`)).toEqual(['https://example.com/(a)']);
  });

  test('only http and https are ever led to, and the parts joined are the text', () => {
    const text = fc
      .array(fc.oneof(fc.string(), fc.webUrl(), fc.constantFrom(' ', '(', ')', '.', 'https://')))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (written) => {
        const parts = linksInText(written);
        expect(parts.map((part) => part.text).join('')).toBe(written);
        for (const href of hrefsIn(written)) expect(href).toMatch(/^https?:\/\//);
      }),
    );
  });
});
