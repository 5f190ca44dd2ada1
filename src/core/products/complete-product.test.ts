import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { COMMENT_DEFAULTS } from '../../contract/comments/defaults.ts';
import { PRODUCT_DEFAULTS } from '../../contract/products/defaults.ts';
import { completeProduct } from './complete-product.ts';

const NOW = new Date('2026-05-01T12:00:00.000Z');

describe('completing a product (SPEC section 3)', () => {
  test('a product with nothing but an id gets every default of the specification', () => {
    expect(completeProduct({ id: 'x' }, NOW)).toEqual({
      id: 'x',
      name: 'Untitled Product',
      description: 'No description available',
      image: '/pictures/placeholder.svg',
      tags: [],
      category: 'Uncategorized',
      maker: 'Unknown Maker',
      launchDate: 'Today',
      team: [],
      screenshots: [],
      createdAt: '2026-05-01T12:00:00.000Z',
    });
  });

  test.each(['', '   ', '\n\t', undefined])('a text that is %j counts as missing', (blank) => {
    const blanks = { name: blank, description: blank, image: blank, category: blank, maker: blank, launchDate: blank };
    expect(completeProduct({ id: 'x', ...blanks }, NOW)).toMatchObject(PRODUCT_DEFAULTS);
  });

  test('what is given stays, without the space around it', () => {
    const given = {
      id: 'x',
      name: ' Wave  Rider ',
      tags: ['a'],
      team: [{ name: 'Ada', avatar: '/a.svg', role: 'Maker' }],
      screenshots: ['/s.png'],
      createdAt: '2020-01-01T00:00:00.000Z',
    };
    expect(completeProduct(given, NOW)).toMatchObject({ ...given, name: 'Wave  Rider' });
  });
});

describe('the defaults of the database (SPEC section 3)', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  async function defaultsOf(table: string): Promise<Record<string, string | null>> {
    const rows = await database.query<{ column_name: string; column_default: string | null }>(
      'SELECT column_name, column_default FROM information_schema.columns WHERE table_name = $1',
      [table],
    );
    // PostgreSQL writes a text default as 'value'::text.
    return Object.fromEntries(
      rows.map((row) => [row.column_name, row.column_default?.replace(/^'(.*)'::.*$/, '$1') ?? null]),
    );
  }

  test('the columns of products default to what the contract says', async () => {
    const { launchDate, ...sameNames } = PRODUCT_DEFAULTS;
    expect(await defaultsOf('products')).toMatchObject({
      ...sameNames,
      launch_date: launchDate,
      tags: '{}',
      team: '[]',
      screenshots: '{}',
      created_at: 'now()',
    });
  });

  test('the columns of comments default to what the contract says', async () => {
    expect(await defaultsOf('comments')).toMatchObject({
      author_name: COMMENT_DEFAULTS.authorName,
      author_avatar: COMMENT_DEFAULTS.authorAvatar,
      author_badge: null,
      likes: '0',
      created_at: 'now()',
    });
  });

  test('every column has a default but those that a row is named or owned by, or that are what is said', async () => {
    const rows = await database.query<{ name: string }>(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND column_default IS NULL AND is_nullable = 'NO'
         AND table_name IN ('products', 'upvotes', 'comments') ORDER BY 1`,
    );
    expect(rows.map((row) => row.name)).toEqual([
      'comments.content',
      'comments.id',
      'comments.product_id',
      'products.id',
      'upvotes.id',
      'upvotes.product_id',
      'upvotes.user_session',
    ]);
  });
});
