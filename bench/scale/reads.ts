import { PERIOD_KINDS } from '../../src/contract/leaderboards/period.ts';
import type { ProductListQuery } from '../../src/contract/products/schema.ts';
import { listComments } from '../../src/core/comments/list-comments.ts';
import { getLeaderboard } from '../../src/core/leaderboards/get-leaderboard.ts';
import { getStandings } from '../../src/core/leaderboards/get-standings.ts';
import { getProduct } from '../../src/core/products/get-product.ts';
import { listProducts } from '../../src/core/products/list-products.ts';
import { getRelatedProducts } from '../../src/core/products/related-products.ts';
import { getUpvoted } from '../../src/core/upvotes/get-upvoted.ts';
import type { Side } from './side.ts';

/** The target for the larger database, if any: a ratio to the smaller one, or an absolute time. */
export type Target = { p50Ratio: number } | { p95Ms: number } | undefined;

export interface Read {
  name: string;
  target: Target;
  /** The number of repetitions on each side. */
  times: number;
  /** Prepares the requests before the measurement. They are distinct where possible. */
  prepare(side: Side, times: number): Promise<(() => Promise<unknown>)[]>;
}

const SAME = { p50Ratio: 1.5 };
const FAST = { p95Ms: 25 };
const RELATED = { p95Ms: 10 };
const SHORT = { p95Ms: 50 };

const DEPTHS = [0, 10, 1_000, 20_000];

export const READS: readonly Read[] = [
  ...DEPTHS.map((pages) =>
    list(pages === 0 ? 'list, first page' : `list, ${pages.toLocaleString('en')} pages deep`, {}, pages),
  ),
  list('list by upvotes', { sort: 'top' }, 0),
  list('list by upvotes, 1,000 pages deep', { sort: 'top' }, 1_000),
  list('list by comments', { sort: 'discussed' }, 0),
  narrowed('tag, common', FAST, 60, (_side, index) => ({ tag: ['AI', 'Open Source', 'C++', 'iOS'][index % 4] ?? '' })),
  narrowed('tag, rare', FAST, 60, (_side, index) => ({ tag: `Topic ${1_000 + index * 37}` })),
  narrowed('tag, rare, by upvotes', FAST, 60, (_side, index) => ({ tag: `Topic ${1_000 + index * 37}`, sort: 'top' })),
  read('product and its neighbours', SAME, 300, ({ database, ids }, index) =>
    getProduct(database, pick(ids, index), new Date()),
  ),
  read('related products', RELATED, 300, ({ database, ids }, index) =>
    getRelatedProducts(database, pick(ids, index), new Date()),
  ),
  ...PERIOD_KINDS.map((kind) =>
    read(`leaderboard of a ${kind}`, FAST, 200, ({ database, periods }, index) =>
      getLeaderboard(database, pick(periods[kind], index), { limit: 30 }, rulesNow()),
    ),
  ),
  read('standing of a product', SAME, 200, ({ database, ids }, index) =>
    getStandings(database, pick(ids, index), rulesNow()),
  ),
  read('comments of the hottest product', SAME, 300, ({ database, hottest }, index) =>
    listComments(database, hottest, { sort: (['best', 'newest', 'oldest'] as const)[index % 3] ?? 'best' }, new Date()),
  ),
  read('upvoted, of 30 products', undefined, 300, ({ database, ids, sessions }, index) =>
    getUpvoted(
      database,
      Array.from({ length: 30 }, (_, each) => pick(ids, index + each)),
      pick(sessions, index),
    ),
  ),
  narrowed('search, common', FAST, 100, (_side, index) => ({ q: pick(COMMON, index) })),
  narrowed('search, common, by upvotes', FAST, 100, (_side, index) => ({ q: pick(COMMON, index), sort: 'top' })),
  narrowed('search, rare', FAST, 100, ({ rareWords }, index) => ({ q: pick(rareWords, index) })),
  narrowed('search, rare, by upvotes', FAST, 100, ({ rareWords }, index) => ({
    q: pick(rareWords, index),
    sort: 'top',
  })),
  narrowed('search, medium', FAST, 60, ({ mediumWords }, index) => ({ q: pick(mediumWords, index) })),
  narrowed('search, medium, by upvotes', undefined, 60, ({ mediumWords }, index) => ({
    q: pick(mediumWords, index),
    sort: 'top',
  })),
  narrowed('search, absent', FAST, 100, (_side, index) => ({ q: absentWord(index) })),
  narrowed('search, other scripts', FAST, 100, (_side, index) => ({ q: pick(OTHER_SCRIPTS, index) })),
  narrowed('1 or 2 characters, common', SHORT, 100, (_side, index) => ({ q: pick(SHORT_COMMON, index) })),
  narrowed('1 or 2 characters, rare', SHORT, 100, (_side, index) => ({ q: pick(SHORT_RARE, index) })),
  narrowed('1 or 2 characters, rare, by upvotes', SHORT, 60, (_side, index) => ({
    q: pick(SHORT_RARE, index),
    sort: 'top',
  })),
  narrowed('1 or 2 characters, absent', SHORT, 100, (_side, index) => ({ q: pick(SHORT_ABSENT, index) })),
];

function rulesNow() {
  return { now: new Date(), timeZone: 'UTC', reviewHours: 24 };
}

const COMMON = 'the and data team video open source search your private without ing ion code food table'.split(' ');
const OTHER_SCRIPTS = 'данные быстро команда δεδομένα γρήγορα بيانات データ 検索共 用户数 데이터 검색을'.split(' ');
const SHORT_COMMON = 'a e in or 的 数据 🌊 и'.split(' ');
const SHORT_RARE = '时公 水同 天头 面水 地经 道手 里又 能如'.split(' ');
const SHORT_ABSENT = '§§ q~ ☂ ßß %_ \\'.split(' ');

/** Returns a word that no product contains. */
function absentWord(index: number): string {
  return `zxq${String.fromCharCode(97 + (index % 26), 97 + (Math.floor(index / 26) % 26))}vw`;
}

function list(name: string, query: ProductListQuery, pages: number): Read {
  return {
    name,
    target: SAME,
    times: 300,
    async prepare(side, times) {
      const cursors: string[] = [];
      // The first page is always the same request. Deeper pages begin at 20 different products that are close together.
      for (let each = 0; each < (pages === 0 ? 1 : 20); each += 1) {
        cursors.push(pages === 0 ? '' : await side.cursorAt(query.sort ?? 'newest', pages - each / 10));
      }
      return Array.from(
        { length: times },
        (_, index) => () => listProducts(side.database, { ...query, cursor: pick(cursors, index) }, new Date()),
      );
    },
  };
}

function narrowed(
  name: string,
  target: Target,
  times: number,
  queryOf: (side: Side, index: number) => ProductListQuery,
): Read {
  return read(name, target, times, (side, index) => listProducts(side.database, queryOf(side, index), new Date()));
}

function read(name: string, target: Target, times: number, run: (side: Side, index: number) => Promise<unknown>): Read {
  return {
    name,
    target,
    times,
    prepare: async (side, count) => Array.from({ length: count }, (_, index) => () => run(side, index)),
  };
}

function pick(from: readonly string[], index: number): string {
  return from[index % from.length] ?? '';
}
