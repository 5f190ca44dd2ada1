import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { declaredDefaults } from '../../../tests/support/declared-defaults.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { COMMENT_DEFAULTS } from '../../contract/comments/defaults.ts';
import { fieldOf, PRODUCT_FIELD_NAMES, type ProductFieldName } from '../../contract/products/fields.ts';
import { completeProduct, versionOf } from './save-products.ts';

const NOW = new Date('2026-05-01T12:00:00.000Z');

describe('completing a product (SPEC section 3)', () => {
  test('a product with only an id gets every default of the specification', () => {
    expect(completeProduct({ id: 'x' }, NOW)).toEqual({
      ...declaredDefaults('x', NOW.toISOString()),
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

  test.each(['', '   ', '\n\t', '\u200b', undefined])('a text that is %j counts as missing', (blank) => {
    const blanks = { name: blank, description: blank, image: blank, category: blank, maker: blank, launchDate: blank };
    expect(completeProduct({ id: 'x', ...blanks }, NOW)).toEqual(completeProduct({ id: 'x' }, NOW));
  });

  test('given values are used, without surrounding space', () => {
    const given = {
      id: 'x',
      name: ' Wave  Rider ',
      tags: ['a'],
      team: [{ name: 'Ada', avatar: '/a.svg', role: 'Maker' }],
      screenshots: ['/s.png'],
      createdAt: '2020-01-01T00:00:00.000Z',
    };
    expect(completeProduct(given, NOW)).toEqual({
      ...declaredDefaults('x', NOW.toISOString()),
      ...given,
      name: 'Wave  Rider',
    });
  });
});

describe('the version of a product', () => {
  const product = completeProduct({ id: 'x', name: 'Ebb', team: [{ name: 'Ada', avatar: '/a.svg', role: '' }] }, NOW);

  /** Returns the version that the site would compute if this field did not exist. */
  function versionWithout(field: ProductFieldName): string {
    const names = PRODUCT_FIELD_NAMES as ProductFieldName[];
    const index = names.indexOf(field);
    names.splice(index, 1);
    try {
      return versionOf(product);
    } finally {
      names.splice(index, 0, field);
    }
  }

  test.each(PRODUCT_FIELD_NAMES)('the version changes with the field %s', (field) => {
    const others = { ...product, [field]: typeof product[field] === 'string' ? 'other' : ['other'] };
    expect(versionOf(others)).not.toBe(versionOf(product));
  });

  test.each(['category', 'tags'] as const)(
    'the version stays the same when the field %s is added with its default',
    (field) => {
      expect(versionWithout(field)).toBe(versionOf(product));
    },
  );
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
    // PostgreSQL formats a text default as 'value'::text.
    return Object.fromEntries(
      rows.map((row) => [row.column_name, row.column_default?.replace(/^'(.*)'::.*$/, '$1') ?? null]),
    );
  }

  test('the columns of products default to the values of the contract', async () => {
    const ofKind = { id: null, time: 'now()', texts: '{}', addresses: '{}', team: '[]' } as Record<
      string,
      string | null
    >;
    const declared = PRODUCT_FIELD_NAMES.map((name) => {
      const { column, kind, default: text } = fieldOf(name);
      return [column, text ?? ofKind[kind]];
    });
    expect(await defaultsOf('products')).toMatchObject(Object.fromEntries(declared));
  });

  test('the columns of comments default to the values of the contract', async () => {
    expect(await defaultsOf('comments')).toMatchObject({
      author_name: COMMENT_DEFAULTS.authorName,
      author_avatar: COMMENT_DEFAULTS.authorAvatar,
      author_badge: null,
      likes: '0',
      created_at: 'now()',
    });
  });

  test('every required column has a default, except ids, sessions and the text of a comment', async () => {
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
