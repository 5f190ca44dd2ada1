import type { Page } from '@playwright/test';
import type { StoredProduct } from '../../src/contract/products/schema.ts';
import type { E2eSite } from './e2e-site.ts';

/** A long word without hyphens, which wraps only where the style sheet allows line breaks within words. */
export const LONG_WORD = 'IncomprehensibilitiesAndOtherWordsThatDoNotBreakAnywhereAtAllNow';

/** A site and the products that the screen states show. */
export interface StateContent {
  site: E2eSite;
  /** A product with more comments than one page shows. */
  discussed: StoredProduct;
  bare: StoredProduct;
  rich: StoredProduct;
  /** A product with very long texts that have no break opportunities. */
  long: StoredProduct;
}

/** One state of one screen, and the steps to reach it. */
export interface ScreenState {
  name: string;
  /** Brings a page into the state. The test must enable live updates. */
  open(page: Page, content: StateContent): Promise<void>;
  /** The expected console errors of this state. */
  consoleErrors?: RegExp[];
}

const added = new WeakMap<E2eSite, Promise<StateContent>>();

/** Adds the products of the screen states once per site. Their counts may have been changed by earlier tests. */
export function stateContent(site: E2eSite): Promise<StateContent> {
  const content = added.get(site) ?? addStateProducts(site);
  added.set(site, content);
  return content;
}

async function addStateProducts(site: E2eSite): Promise<StateContent> {
  const [discussed, bare, rich, long] = await site.addProducts(
    4,
    (index) =>
      [
        { id: 'zz-discussed', name: 'Zz discussed' },
        { id: 'zz-bare', name: 'Zz bare', image: '' },
        {
          id: 'zz-rich',
          name: 'Zz rich',
          description: 'The first line.\nThe second line, which is a little longer than the first.',
          image: '/pictures/git/tile.svg',
          tags: ['editor', 'tools', 'open source', 'terminal'],
          team: [{ name: 'Ada Lovelace', avatar: '', role: 'Maker' }],
          screenshots: ['/pictures/git/tile.svg', '/pictures/vim/tile.svg'],
        },
        {
          id: 'zz-long',
          name: LONG_WORD.repeat(5).slice(0, 300),
          description: LONG_WORD.repeat(20),
          maker: LONG_WORD,
          category: LONG_WORD,
          launchDate: LONG_WORD,
          tags: [LONG_WORD.slice(0, 60), LONG_WORD.slice(1, 60), LONG_WORD.slice(2, 60)],
          team: [{ name: LONG_WORD, avatar: '', role: LONG_WORD }],
        },
      ][index],
  );
  if (!discussed || !bare || !rich || !long) throw new Error('The site did not return four products');
  await site.addUpvotes(rich.id, 3);
  await site.addComments(rich.id, [
    { content: 'With a link to https://example.org/', likes: 1 },
    { content: 'Plainly marked', authorName: 'Grace', authorBadge: 'Sample', likes: 99 },
  ]);
  await site.addComments(
    discussed.id,
    Array.from({ length: 31 }, (_, index) => ({ content: `Comment ${index}` })),
  );
  await site.addComments(long.id, [
    { content: `${LONG_WORD.repeat(20)} https://example.org/${LONG_WORD}`, authorName: LONG_WORD },
  ]);
  await site.takeNewNames();
  return { site, discussed, bare, rich, long };
}
