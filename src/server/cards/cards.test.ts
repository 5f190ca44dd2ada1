import { beforeEach, describe, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import type { Product } from '../../contract/products/schema.ts';
import type { Card } from './card.ts';
import { type Cards, COUNT_LAG_MS, createCards } from './cards.ts';
import { PaintError } from './painter.ts';

let clockMs: number;
let painted: Card[];
/** What becomes of a card; drawn unless a test says otherwise. */
let outcome: (card: Card) => Promise<Buffer>;
let cards: Cards;

beforeEach(() => {
  clockMs = 1_000_000;
  painted = [];
  outcome = async ({ product }) => Buffer.from(`${product?.name ?? 'the site'} ${product?.upvotes ?? ''}`);
  cards = newCards();
});

function newCards(maxBytes?: number): Cards {
  return createCards({
    painter: {
      paint(card) {
        painted.push(card);
        return outcome(card);
      },
      stopQueueing() {},
      close: async () => {},
    },
    readPicture: async (address) => (address.startsWith('/pictures/') ? Buffer.from(address) : undefined),
    siteName: 'Groundswell',
    now: () => clockMs,
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
}

const base = buildProduct({ id: 'git', name: 'Git' });
const product = (overrides: Partial<Product> = {}): Product => ({
  ...base,
  image: '',
  upvotes: 1,
  comments: 0,
  ...overrides,
});
const textOf = async (wanted: Product) => (await cards.ofProduct(wanted)).card.png.toString();

describe('a card', () => {
  test('is drawn once, however many ask, also at the same time', async () => {
    const asked = await Promise.all([textOf(product()), textOf(product()), textOf(product())]);
    expect(asked).toEqual(['Git 1', 'Git 1', 'Git 1']);
    await textOf(product({ comments: 5 }));
    expect(painted).toHaveLength(1);
  });

  test('is drawn again for another name at once, and for another count not before ten minutes', async () => {
    await textOf(product());
    clockMs += COUNT_LAG_MS - 1;
    expect(await textOf(product({ upvotes: 9 }))).toBe('Git 1');
    clockMs += 1;
    expect(await textOf(product({ upvotes: 9 }))).toBe('Git 9');
    expect(await textOf(product({ upvotes: 9, name: 'git' }))).toBe('git 9');
    expect(painted).toHaveLength(3);
  });

  test('has an ETag that changes with its bytes', async () => {
    const { card: first } = await cards.ofProduct(product());
    const { card: second } = await cards.ofProduct(product({ name: 'git' }));
    expect(first.etag).toMatch(/^"[\w-]+"$/);
    expect(second.etag).not.toBe(first.etag);
  });

  test('shows a picture of the site itself, and of nobody else', async () => {
    await textOf(product({ image: '/pictures/git.svg' }));
    await textOf(product({ image: 'https://example.com/git.svg' }));
    expect(painted.map((card) => card.product?.picture?.toString())).toEqual(['/pictures/git.svg', undefined]);
  });

  test('whose picture cannot be drawn is drawn without it', async () => {
    outcome = async ({ product: shown }) => {
      if (shown?.picture) throw new PaintError('failed', 'crashed');
      return Buffer.from('without');
    };
    expect(await textOf(product({ image: '/pictures/bad.png' }))).toBe('without');
  });
});

describe('in the place of a card that cannot be drawn', () => {
  const busy = async () => Promise.reject(new PaintError('busy', 'full'));

  test('stands the last one of the product, and nobody is to keep it', async () => {
    await textOf(product());
    outcome = busy;
    const served = await cards.ofProduct(product({ name: 'git' }));
    expect([served.card.png.toString(), served.isSubstitute]).toEqual(['Git 1', true]);
  });

  test('stands that of the site where there was none', async () => {
    await cards.ofSite();
    outcome = busy;
    const served = await cards.ofProduct(product());
    expect([served.card.png.toString(), served.isSubstitute]).toEqual(['the site ', true]);
  });

  test('stands nothing where there is not even that', async () => {
    outcome = busy;
    await expect(cards.ofProduct(product())).rejects.toMatchObject({ code: 'overloaded' });
  });

  test('and it is not tried again for a minute where drawing itself failed', async () => {
    await cards.ofSite();
    outcome = async () => Promise.reject(new PaintError('failed', 'crashed'));
    await textOf(product());
    await textOf(product());
    expect(painted).toHaveLength(2);
    outcome = async () => Buffer.from('better');
    clockMs += 60_000;
    expect(await textOf(product())).toBe('better');
  });
});

test('memory is bounded: the least recently used cards go first', async () => {
  cards = newCards(15);
  for (const id of ['a', 'b', 'a', 'c', 'd', 'a']) await textOf(product({ id }));
  expect(painted.map((card) => card.product?.id)).toEqual(['a', 'b', 'c', 'd']);
  await textOf(product({ id: 'b' }));
  expect(painted).toHaveLength(5);
});
