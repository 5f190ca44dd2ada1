import { Command, Option } from 'commander';
import type { Product } from '../../contract/products/schema.ts';
import { type BrowseSort, browseProducts } from '../../core/products/browse-products.ts';
import { listRemovals, type Removal } from '../../core/products/removed-products.ts';
import { limitOption, readInstant, readText } from '../arguments.ts';
import { printTable } from '../terminal/print-table.ts';
import { utcMinute } from '../terminal/utc-minute.ts';
import { UsageError } from '../usage-error.ts';
import { withDatabase } from '../with-database.ts';

interface Flags {
  text?: string;
  tag?: string;
  category?: string;
  since?: Date;
  sort: BrowseSort;
  removed?: boolean;
  limit: number;
  json?: boolean;
}

const SORTS: readonly BrowseSort[] = ['newest', 'top', 'discussed', 'name'];

export function listCommand(): Command {
  return new Command('list')
    .description('list products, or those that were removed')
    .option('--text <text>', 'only those with this text in their name or description, in any case', readText)
    .option('--tag <tag>', 'only those with this tag, in any case', readText)
    .option('--category <category>', 'only those of this category, in any case', readText)
    .option(
      '--since <date>',
      'only those launched then or later: 2026-01-31 (UTC), or 2026-01-31T18:00:00Z',
      readInstant,
    )
    .addOption(new Option('--sort <order>', 'in which order').choices(SORTS).default('newest'))
    .option('--removed', 'those that were removed and can be restored, the last removal first')
    .addOption(limitOption(100))
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  groundswell products list --since 2026-01-01 --sort top --limit 20
  groundswell products list --tag database --text "open source"
  groundswell products list --removed
  groundswell products list --json --limit 1000 | jq -r '.products[].id'`,
    )
    .action(async ({ removed = false, json = false, ...filter }: Flags) => {
      if (removed) return listRemoved(filter, json);
      const products = await withDatabase(({ database }) => browseProducts(database, filter));
      if (json) return console.log(JSON.stringify({ products }));
      if (products.length === 0) return console.log('There are no such products.');
      printProducts(products);
    });
}

async function listRemoved(filter: Omit<Flags, 'removed' | 'json'>, json: boolean): Promise<void> {
  const { text, tag, category, since, limit } = filter;
  if ([text, tag, category, since].some((given) => given !== undefined))
    throw new UsageError('--removed lists all that was removed: leave --text, --tag, --category and --since away');
  const removals = await withDatabase(({ database }) => listRemovals(database, { limit }));
  if (json) return console.log(JSON.stringify({ removals }));
  if (removals.length === 0) return console.log('No product was removed.');
  printRemovals(removals);
}

function printProducts(products: readonly Product[]): void {
  printTable(
    [
      { title: 'ID', colour: 'green' },
      { title: 'NAME', shrinks: true },
      { title: 'CATEGORY', shrinks: true },
      { title: 'LAUNCHED', colour: 'dim' },
      { title: 'UPVOTES', align: 'right' },
      { title: 'COMMENTS', align: 'right' },
    ],
    products.map(({ id, name, category, createdAt, upvotes, comments }) => [
      id,
      name,
      category,
      createdAt.slice(0, 10),
      upvotes.toLocaleString('en'),
      comments.toLocaleString('en'),
    ]),
  );
}

function printRemovals(removals: readonly Removal[]): void {
  printTable(
    [
      { title: 'ID', colour: 'green' },
      { title: 'NAME', shrinks: true },
      { title: 'REMOVED (UTC)', colour: 'dim' },
      { title: 'UPVOTES', align: 'right' },
      { title: 'COMMENTS', align: 'right' },
      { title: 'REMOVAL' },
    ],
    removals.map(({ id, name, removedAt, upvotes, comments, removalId }) => [
      id,
      name,
      utcMinute(removedAt),
      upvotes.toLocaleString('en'),
      comments.toLocaleString('en'),
      removalId,
    ]),
  );
}
