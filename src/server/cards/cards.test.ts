import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import type { Leaderboard } from '../../contract/leaderboards/schema.ts';
import type { Product } from '../../contract/products/schema.ts';
import { CoreError } from '../../core/core-error.ts';
import { TaskError } from '../task-process/task-process.ts';
import { type Cards, COUNT_LAG_MS, createCards, MAX_DRAWINGS } from './cards.ts';
import type { Card } from './renderer/card-renderer.ts';

let clockMs: number;
let rendered: Card[];
/** Renders a card. Succeeds unless a test replaces this function. */
let renderCard: (card: Card) => Promise<Buffer>;
let cards: Cards;

beforeEach(() => {
  clockMs = 1_000_000;
  rendered = [];
  renderCard = async ({ product }) => Buffer.from(`${product?.name ?? 'the site'} ${product?.upvotes ?? ''}`);
  cards = newCards();
});

function newCards(maxBytes?: number): Cards {
  return createCards({
    renderer: {
      render(card) {
        rendered.push(card);
        return renderCard(card);
      },
      stopQueueing() {},
      close: async () => {},
    },
    readPicture: async (address) => (address.startsWith('/pictures/') ? Buffer.from(address) : undefined),
    siteName: 'Groundswell',
    monotonicMs: () => clockMs,
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

describe('the card of a product', () => {
  test('a card is drawn once for any number of requests, even simultaneous ones', async () => {
    const asked = await Promise.all([textOf(product()), textOf(product()), textOf(product())]);
    expect(asked).toEqual(['Git 1', 'Git 1', 'Git 1']);
    await textOf(product({ comments: 5 }));
    expect(rendered).toHaveLength(1);
  });

  test('only a request for which a card is drawn is charged, and a refusal fails no other request', async () => {
    const charge = vi.fn();
    const asked = () => cards.ofProduct(product(), undefined, charge);
    await Promise.all([asked(), asked()]);
    await asked();
    expect(charge).toHaveBeenCalledOnce();
    const refused = cards.ofProduct(product({ name: 'git' }), undefined, () => {
      throw new CoreError('rate_limited', 'Too many requests');
    });
    const other = textOf(product({ name: 'git' }));
    await expect(refused).rejects.toMatchObject({ code: 'rate_limited' });
    expect(await other).toBe('git 1');
  });

  test('a card is redrawn immediately if the name changes, and after ten minutes if the count changes', async () => {
    await textOf(product());
    clockMs += COUNT_LAG_MS - 1;
    expect(await textOf(product({ upvotes: 9 }))).toBe('Git 1');
    clockMs += 1;
    expect(await textOf(product({ upvotes: 9 }))).toBe('Git 9');
    expect(await textOf(product({ upvotes: 9, name: 'git' }))).toBe('git 9');
    expect(rendered).toHaveLength(3);
  });

  test('a card with another name is drawn separately while the first drawing is in progress', async () => {
    const asked = await Promise.all([cards.ofProduct(product()), cards.ofProduct(product({ name: 'git' }))]);
    expect(asked.map(({ card }) => card.png.toString())).toEqual(['Git 1', 'git 1']);
    expect(rendered).toHaveLength(2);
  });

  test('a card has an ETag that changes with its bytes', async () => {
    const { card: first } = await cards.ofProduct(product());
    const { card: second } = await cards.ofProduct(product({ name: 'git' }));
    expect(first.etag).toMatch(/^"[\w-]+"$/);
    expect(second.etag).not.toBe(first.etag);
  });

  test('a card shows the picture of the product if it can be read, and none otherwise', async () => {
    await textOf(product({ image: '/pictures/git.svg' }));
    await textOf(product({ image: 'https://example.com/git.svg' }));
    expect(rendered.map((card) => card.product?.picture?.toString())).toEqual(['/pictures/git.svg', undefined]);
  });

  test('at most two pictures are in memory, and with too many waiting cards, further products get a substitute', async () => {
    let drawing = 0;
    let most = 0;
    renderCard = async ({ product: shown }) => {
      drawing += shown ? 1 : 0;
      most = Math.max(most, drawing);
      await setImmediate();
      drawing -= shown ? 1 : 0;
      return Buffer.from(shown?.id ?? 'the site');
    };
    const ids = Array.from({ length: MAX_DRAWINGS + 1 }, (_, n) => `product-${n}`);
    const asked = await Promise.all(ids.map((id) => textOf(product({ id, image: '/pictures/git.png' }))));
    expect(asked).toEqual([...ids.slice(0, -1), 'the site']);
    expect(most).toBe(2);
  });

  test('if the picture cannot be drawn, the card is drawn without it', async () => {
    renderCard = async ({ product: shown }) => {
      if (shown?.picture) throw new TaskError('failed', 'crashed');
      return Buffer.from('without');
    };
    expect(await textOf(product({ image: '/pictures/bad.png' }))).toBe('without');
  });
});

test('the card of a leaderboard shows three launches, and is redrawn at once unless only counts changed', async () => {
  const entry = (rank: number, name: string, votes: number) => ({ rank, name, votes, tied: votes === 9 });
  const board = {
    ...{ period: '2026-06-03', kind: 'day', status: 'open', revision: 0, launches: 4 },
    items: [entry(1, 'Git', 9), entry(1, 'Vim', 9), entry(3, 'Make', 1), entry(4, 'Ed', 0)],
  } as unknown as Leaderboard;
  await cards.ofBoard(board);
  expect(rendered.at(-1)?.board).toEqual({
    title: 'Launches of 3 June 2026',
    summary: '4 launches, so far',
    first: [
      { place: '1st', name: 'Git', votes: '9 votes, tied' },
      { place: '1st', name: 'Vim', votes: '9 votes, tied' },
      { place: '3rd', name: 'Make', votes: '1 vote' },
    ],
  });
  await cards.ofBoard({ ...board, launches: 5 });
  expect(rendered).toHaveLength(1);
  await cards.ofBoard({ ...board, launches: 5, status: 'final' });
  expect(rendered.at(-1)?.board?.summary).toBe('5 launches, final result');
  const [, ...withoutFirst] = board.items;
  await cards.ofBoard({ ...board, items: withoutFirst });
  expect(rendered.at(-1)?.board?.first.map(({ name }) => name)).toEqual(['Vim', 'Make']);
  const items = withoutFirst.map((each) => (each.name === 'Vim' ? { ...each, name: 'Vi' } : each));
  await cards.ofBoard({ ...board, items });
  expect(rendered.at(-1)?.board?.first.map(({ name }) => name)).toEqual(['Vi', 'Make']);
  await cards.ofBoard({ ...board, items: items.map((each) => ({ ...each, votes: each.votes * 2 })) });
  expect(rendered).toHaveLength(4);
});

describe('if a card cannot be drawn', () => {
  const busy = async () => Promise.reject(new TaskError('busy', 'full'));

  test("the product's previous card is sent in place of one that cannot be drawn", async () => {
    await textOf(product());
    renderCard = busy;
    const served = await cards.ofProduct(product({ name: 'git' }));
    expect([served.card.png.toString(), served.isSubstitute]).toEqual(['Git 1', true]);
  });

  test("the site's card is sent if the product has no previous card", async () => {
    await cards.ofSite();
    renderCard = busy;
    const served = await cards.ofProduct(product());
    expect([served.card.png.toString(), served.isSubstitute]).toEqual(['the site ', true]);
  });

  test('a request for a card fails if there is no substitute', async () => {
    renderCard = busy;
    await expect(cards.ofProduct(product())).rejects.toMatchObject({ code: 'overloaded' });
  });

  test('a failed drawing is not retried for a minute', async () => {
    await cards.ofSite();
    renderCard = async () => Promise.reject(new TaskError('failed', 'crashed'));
    await textOf(product());
    await textOf(product());
    expect(rendered).toHaveLength(2);
    renderCard = async () => Buffer.from('better');
    clockMs += 60_000;
    expect(await textOf(product())).toBe('better');
  });
});

test('memory is bounded: the least recently used cards are evicted first', async () => {
  cards = newCards(15);
  for (const id of ['a', 'b', 'a', 'c', 'd', 'a']) await textOf(product({ id }));
  expect(rendered.map((card) => card.product?.id)).toEqual(['a', 'b', 'c', 'd']);
  await textOf(product({ id: 'b' }));
  expect(rendered).toHaveLength(5);
});
