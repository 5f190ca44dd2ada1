import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { connect } from '../src/core/database/connect.ts';
import { PACKAGE_FOLDERS } from '../src/settings/package-root.ts';
import { fillDatabase } from './seed/fill.ts';

/** Default numbers of upvotes and comments per product. */
const UPVOTES = 5;
const COMMENTS = 2;

/**
 * `npm run bench -- seed --products=N`: fills the database at `--database-url` or `DATABASE_URL`. Flags: `--upvotes=N`
 * and `--comments=N` (5 and 2 per product), `--seed=N` (1), and `--force`, for a database that already has products.
 */
export async function seed(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      products: { type: 'string' },
      upvotes: { type: 'string' },
      comments: { type: 'string' },
      seed: { type: 'string', default: '1' },
      'database-url': { type: 'string' },
      force: { type: 'boolean', default: false },
    },
  });
  const products = readWholeNumber('products', values.products);
  const sizes = {
    products,
    upvotes: readWholeNumber('upvotes', values.upvotes ?? String(products * UPVOTES)),
    comments: readWholeNumber('comments', values.comments ?? String(products * COMMENTS)),
    seed: readWholeNumber('seed', values.seed),
  };
  const databaseUrl = values['database-url'] ?? (process.env.DATABASE_URL || undefined);
  if (databaseUrl === undefined)
    throw new Error('No database given: add --database-url postgres://… or set DATABASE_URL');
  const log = pino({ level: 'warn' });
  const connection = await connect({ databaseUrl, dataDir: '', mode: 'share', log });
  try {
    await connection.migrate(PACKAGE_FOLDERS.migrations);
    await fillDatabase(databaseUrl, sizes, { force: values.force });
  } finally {
    await connection.close();
  }
}

function readWholeNumber(name: string, text: string | undefined): number {
  if (text === undefined || !/^\d+$/.test(text)) throw new Error(`--${name} must be a whole number`);
  return Number(text);
}
