import { loadModule, parse, SqlError } from 'libpg-query';
import { beforeAll, describe, expect, test } from 'vitest';
import { omitLocks } from '../../src/core/database/citus.ts';
import { statementsOf } from '../../src/core/database/migrate.ts';
import { PLACEHOLDER, sourceStatements } from './portable-sql/statements.ts';
import { distributionViolationsOf, violationsOf } from './portable-sql/violations.ts';
import { filesBelow, readText } from './source-files.ts';

const LOCK = 'a lock on rows of many products (`adaptToCitus` omits marked ones)';
const BY_PRODUCT = 'on Citus, the site locks one product at a time';

/** Known exceptions, with their reasons. */
const EXCEPTIONS: Record<string, { violation: string; why: string }> = {
  'src/core/database/listen.ts': {
    violation: 'LISTEN',
    why: 'if notifications are lost, polling finds the changes a moment later',
  },
  'src/core/changes/change-publisher.ts': {
    violation: 'NOTIFY',
    why: 'if notifications are lost, polling finds the changes a moment later',
  },
  'src/core/database/pool.ts': {
    violation: 'a setting that outlives its transaction, which a pooler loses',
    why: 'if a pooler loses the statement timeout of the server, the timeout of the client applies',
  },
  'src/core/counts/lock-counts.ts': { violation: LOCK, why: BY_PRODUCT },
  'src/core/leaderboards/launch-votes.ts': { violation: LOCK, why: BY_PRODUCT },
  'src/core/leaderboards/update-boards.ts': { violation: LOCK, why: BY_PRODUCT },
  'src/core/products/product-row.ts': { violation: LOCK, why: BY_PRODUCT },
};

/**
 * The strings that may replace a placeholder, most likely first: a name, nothing, a parameter, a number, a condition or
 * assignment, a query, and a constraint.
 */
const REPLACEMENTS = ['filled', '', '$1', '1', 'filled = 1', 'SELECT 1', 'CHECK (true)'];

/** The first migration that may run on distributed tables. */
const FIRST_AFTER_DISTRIBUTION = '0002';

/** `distributeTables` replaces this unique index before it distributes the table. */
const REPLACED_KEY = 'a key of comments (id) without product_id';

/** The program's statements. A variant is undefined if its placeholders cannot be filled to make valid SQL. */
let statements: { location: string; variants: (string | undefined)[] }[];

beforeAll(async () => {
  await loadModule();
  const found = await sourceStatements();
  statements = await Promise.all(
    found.map(async ({ location, variants }) => ({
      location,
      variants: await Promise.all(variants.map(fillPlaceholders)),
    })),
  );
});

describe('statements of the program', () => {
  test('are found in the main folders of core, more than 90 in total', () => {
    const folders = new Set(statements.map(({ location }) => location.split('/')[2]));
    expect(statements.length).toBeGreaterThan(90);
    expect([...folders]).toEqual(
      expect.arrayContaining([
        'backups',
        'catalogue',
        'changes',
        'comments',
        'counts',
        'exports',
        'imports',
        'leaderboards',
        'products',
        'stats',
        'upvotes',
      ]),
    );
  });

  test('are all parsed by PostgreSQL, with every placeholder filled', async () => {
    expect(statements.filter(({ variants }) => variants.includes(undefined)).map(({ location }) => location)).toEqual(
      [],
    );
  });

  test('are portable to every engine and pooler, with the listed exceptions', async () => {
    const found: string[] = [];
    const used = new Set<string>();
    for (const { location, variants } of statements) {
      const file = location.replace(/:\d+$/, '');
      const violations = await Promise.all(variants.map((variant) => violationsOf(omitLocks(variant ?? ''))));
      for (const violation of new Set(violations.flat())) {
        if (EXCEPTIONS[file]?.violation === violation) used.add(file);
        else found.push(`${location}: ${violation}`);
      }
    }
    expect(found).toEqual([]);
    expect([...used].sort(), 'unused exceptions').toEqual(Object.keys(EXCEPTIONS).sort());
  });
});

test('every migration is portable, and can be applied to distributed tables', async () => {
  const paths = (await filesBelow('migrations')).filter((path) => path.endsWith('.sql'));
  expect(paths).not.toEqual([]);
  for (const path of paths) {
    const sql = await readText(path);
    for (const statement of statementsOf(sql)) expect((await parse(statement)).stmts, path).toHaveLength(1);
    const number = path.replace('migrations/', '').slice(0, 4);
    expect(await violationsOf(sql), path).toEqual([]);
    const isBefore = number < FIRST_AFTER_DISTRIBUTION;
    const violations = await distributionViolationsOf(sql, { mayReferenceDistributed: isBefore });
    expect(violations, path).toEqual(isBefore ? [REPLACED_KEY] : []);
  }
});

describe('the checks detect non-portable statements', () => {
  test.each([
    ['CREATE TRIGGER t AFTER INSERT ON comments EXECUTE FUNCTION f()', 'a trigger'],
    ['CREATE RULE r AS ON INSERT TO comments DO NOTHING', 'a rule'],
    ['CREATE TABLE t (id bigserial PRIMARY KEY)', 'a sequence'],
    ['CREATE TABLE t (id serial8 PRIMARY KEY)', 'a sequence'],
    ["SELECT nextval('ids')", 'a sequence'],
    ['CREATE TABLE t (id integer GENERATED ALWAYS AS IDENTITY)', 'an identity column, which is a sequence'],
    ['ALTER TABLE t ADD COLUMN b integer GENERATED ALWAYS AS (a) STORED', 'a generated column'],
    ['CREATE UNLOGGED TABLE t (id text)', 'an UNLOGGED table'],
    ['CREATE TEMP TABLE t (id text)', 'a temporary table, which a pooler loses'],
    ['WITH a AS (SELECT pg_advisory_xact_lock(1)) SELECT * FROM a', 'an advisory lock'],
    ['SELECT pg_try_advisory_lock(1)', 'an advisory lock'],
    ['LISTEN changes', 'LISTEN'],
    ["SELECT pg_notify('a', 'b')", 'NOTIFY'],
    ['COPY comments FROM STDIN', 'COPY'],
    ['SET search_path = a', 'a setting that outlives its transaction, which a pooler loses'],
    ["SELECT set_config('a.b', 'c', false)", 'a setting that outlives its transaction, which a pooler loses'],
    ['DECLARE c CURSOR WITH HOLD FOR SELECT 1', 'a cursor that outlives its transaction, which a pooler loses'],
    ['PREPARE p AS SELECT 1', 'a named prepared statement, which a pooler loses'],
    [
      'UPDATE comments SET hidden_at = clock_timestamp() WHERE id = $1',
      'a volatile function in an UPDATE of a distributed table',
    ],
    [
      "UPDATE launches SET final = true WHERE launched_at + interval '24 hours' < $1",
      'an interval added to a time column, in an UPDATE or DELETE of a distributed table',
    ],
    [
      "DELETE FROM retracted_upvotes r USING launches l WHERE r.created_at > l.launched_at + interval '24 hours'",
      'an interval added to a time column, in an UPDATE or DELETE of a distributed table',
    ],
    ['WITH l AS (SELECT id FROM comments WHERE id = ANY($1) FOR UPDATE) SELECT * FROM l', LOCK],
    ['SELECT (SELECT count(*) FROM (SELECT FROM products LIMIT 9) AS p)', 'a subquery in FROM without columns'],
    [
      'SELECT * FROM (SELECT n FROM unnest($1::text[], $2::int[]) AS u (id, n) JOIN products p USING (id) LIMIT 9) AS p',
      'a column unnested beside a distributed table, with another type than the first',
    ],
  ])('in a statement: %s', async (sql, violation) => {
    expect(await violationsOf(sql)).toEqual([violation]);
  });

  test.each([
    ['CREATE TABLE comments (id uuid PRIMARY KEY, product_id text)', 'a key of comments (id) without product_id'],
    ['CREATE TABLE upvotes (id uuid, UNIQUE (id))', 'a key of upvotes (id) without product_id'],
    ['CREATE UNIQUE INDEX i ON comments (id)', 'a key of comments (id) without product_id'],
    ['CREATE TABLE t (p text REFERENCES products (id))', 't references a distributed table'],
  ])('in a migration: %s', async (sql, violation) => {
    expect(await distributionViolationsOf(sql, { mayReferenceDistributed: false })).toEqual([violation]);
  });
});

/**
 * Replaces the placeholders of a statement, so PostgreSQL can parse it. A replacement is rejected if the parser fails
 * before the next placeholder. @returns undefined if no replacement is accepted.
 */
async function fillPlaceholders(text: string): Promise<string | undefined> {
  const start = text.indexOf(PLACEHOLDER);
  if (start === -1) return (await syntaxErrorOffset(text)) === undefined ? text : undefined;
  for (const replacement of REPLACEMENTS) {
    const filled = text.slice(0, start) + replacement + text.slice(start + PLACEHOLDER.length);
    const next = filled.indexOf(PLACEHOLDER);
    const at = await syntaxErrorOffset(filled.replaceAll(PLACEHOLDER, 'filled'));
    if (at !== undefined && (next === -1 || at < next)) continue;
    const whole = await fillPlaceholders(filled);
    if (whole !== undefined) return whole;
  }
  return undefined;
}

/** Returns the offset of the first syntax error, or undefined if the statement is valid SQL. */
async function syntaxErrorOffset(sql: string): Promise<number | undefined> {
  try {
    await parse(sql);
    return undefined;
  } catch (error) {
    if (error instanceof SqlError) return error.sqlDetails?.cursorPosition ?? 0;
    throw error;
  }
}
