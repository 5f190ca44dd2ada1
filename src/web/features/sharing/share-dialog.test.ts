import { describe, expect, test } from 'vitest';
import { badgeSnippet, productUrl } from './share-dialog.tsx';

const product = { id: 'harbour', name: 'Harbour', siteName: 'Groundswell', siteUrl: 'https://groundswell.example' };

describe('a badge snippet', () => {
  test('is a linked picture in HTML', () => {
    expect(badgeSnippet(product, 'light', 'html')).toBe(
      '<a href="https://groundswell.example/product/harbour">' +
        '<img src="https://groundswell.example/badge/harbour.svg" alt="Harbour on Groundswell"></a>',
    );
  });

  test('is a linked picture in Markdown', () => {
    expect(badgeSnippet(product, 'dark', 'markdown')).toBe(
      '[![Harbour on Groundswell](https://groundswell.example/badge/harbour.svg?theme=dark)]' +
        '(https://groundswell.example/product/harbour)',
    );
  });

  test('escapes a name that contains markup', () => {
    const evil = { ...product, name: 'A "quoted" <b>\n[link](x) `code`' };
    expect(badgeSnippet(evil, 'light', 'html')).toContain(
      'alt="A &quot;quoted&quot; &lt;b&gt; [link](x) `code` on Groundswell"',
    );
    expect(badgeSnippet(evil, 'light', 'markdown')).toMatch(
      /^\[!\[A "quoted" \\<b\\> \\\[link\\\]\(x\) \\`code\\` on Groundswell\]/,
    );
  });
});

test('the URL of a shared product is absolute', () => {
  expect(productUrl(product)).toBe('https://groundswell.example/product/harbour');
});
