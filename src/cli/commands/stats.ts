import { Command } from 'commander';
import { formatCount, utcMinute } from '../../contract/text.ts';
import { readDatabaseTime } from '../../core/database/clock.ts';
import type { Connection } from '../../core/database/connect.ts';
import { type DayStats, readStats, type SiteStats } from '../../core/stats/read-stats.ts';
import type { SubmissionStats } from '../../core/submissions/list-submissions.ts';
import { jsonOption, numberReader } from '../arguments.ts';
import { print, printJson } from '../terminal/output.ts';
import { type Column, printTable } from '../terminal/table.ts';
import { withDatabase } from '../with-database.ts';

const MAX_DAYS = 90;
const KINDS = ['launches', 'upvotes', 'comments'] as const;
const RIGHT = 'right' as const;
const HOUR: Column = { title: 'HOUR (UTC)', style: 'dim' };
const PRODUCT_COLUMNS: readonly Column[] = [
  { title: 'ID', style: 'green' },
  { title: 'NAME', shrinks: true },
];
const UPVOTE_COLUMNS: readonly Column[] = [{ title: 'UPVOTES', align: RIGHT }, ...PRODUCT_COLUMNS];

export function statsCommand(): Command {
  return new Command('stats')
    .description('show launches, upvotes and comments per day, the top products, and bursts of upvotes')
    .option('--days <number>', `number of days (UTC) including today, up to ${MAX_DAYS}`, numberReader(MAX_DAYS), 14)
    .addOption(
      jsonOption(
        '{ "days": [{ "day": "2026-11-20", "launches": 1, "upvotes": 9, "comments": 2 }], "top": […], "hours": […], "networks": […] }',
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  groundswell stats
  groundswell stats --days 30 --json | jq '.days[] | [.day, .upvotes] | @tsv' -r`,
    )
    .action(async ({ days, json = false }: { days: number; json?: boolean }) => {
      const stats = await withDatabase((connection) => read(connection, days));
      if (json) return printJson(stats);
      printStats(stats);
    });
}

/** Reads the statistics without a statement timeout, because there may be millions of upvotes in these days. */
function read(connection: Connection, days: number): Promise<SiteStats> {
  return connection.withoutStatementTimeout(async (database) =>
    readStats(database, { days, now: await readDatabaseTime(database) }),
  );
}

function printStats({ days, top, hours, networks, submissions }: SiteStats): void {
  printDays(days);
  if (submissions.received > 0) printSubmissions(submissions);
  printSection('Most upvotes in this period', 'No product was upvoted.', UPVOTE_COLUMNS, top, (product) => [
    formatCount(product.upvotes),
    product.productId,
    product.productName,
  ]);
  printSection(
    'Hours with far more upvotes than usual for the product',
    'No unusual hours.',
    [HOUR, ...UPVOTE_COLUMNS],
    hours,
    ({ hour, upvotes, productId, productName }) => [utcMinute(hour), formatCount(upvotes), productId, productName],
  );
  printSection(
    'Many sessions from one network upvoted one product within a clock hour (records are stored for a week)',
    'No unusual networks.',
    [HOUR, { title: 'SESSIONS', align: RIGHT }, { title: 'NETWORK' }, ...PRODUCT_COLUMNS],
    networks,
    ({ hour, sessions, network, productId, productName }) => [
      utcMinute(hour),
      formatCount(sessions),
      network,
      productId,
      productName,
    ],
  );
}

function printDays(days: readonly DayStats[]): void {
  printTable(
    [{ title: 'DAY (UTC)', style: 'dim' }, ...KINDS.map((kind) => ({ title: kind.toUpperCase(), align: RIGHT }))],
    [
      ...days.map((day) => [day.day, ...KINDS.map((kind) => formatCount(day[kind]))]),
      ['Total', ...KINDS.map((kind) => formatCount(days.reduce((sum, day) => sum + day[kind], 0)))],
    ],
  );
  print();
  for (const kind of KINDS) print(`${kind.padEnd(8)}  ${sparkline(days.map((day) => day[kind]))}`.trimEnd());
}

function printSubmissions({ received, waiting, approved, declined, withdrawn }: SubmissionStats): void {
  print('\n', ['bold', 'Submissions in this period'], '\n');
  print(
    `${formatCount(received)} received: ${formatCount(approved)} approved, ${formatCount(declined)} declined, ${formatCount(withdrawn)} withdrawn, ${formatCount(waiting)} waiting`,
  );
}

function printSection<Item>(
  title: string,
  empty: string,
  columns: readonly Column[],
  items: readonly Item[],
  cellsOf: (item: Item) => string[],
): void {
  print('\n', ['bold', title], '\n');
  if (items.length === 0) print(empty);
  else printTable(columns, items.map(cellsOf));
}

const BARS = '▁▂▃▄▅▆▇█';

/** Draws a bar per count, scaled to the highest count. Only a count of zero has no bar. */
export function sparkline(counts: readonly number[]): string {
  const highest = Math.max(0, ...counts);
  return counts.map((each) => (each <= 0 ? ' ' : BARS[Math.ceil((each / highest) * BARS.length) - 1])).join('');
}
