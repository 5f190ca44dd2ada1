import type { DayStats, SiteStats } from '../core/stats/read-stats.ts';
import { printTable } from './terminal/print-table.ts';
import { sparkline } from './terminal/sparkline.ts';
import { styleFor } from './terminal/style.ts';
import type { Column } from './terminal/table.ts';
import { utcMinute } from './terminal/utc-minute.ts';

const KINDS = ['launches', 'upvotes', 'comments'] as const;
const RIGHT = 'right' as const;

/** Prints statistics for a person. */
export function describeStats({ days, top, hours, networks }: SiteStats): void {
  describeDays(days);
  section('Most upvotes in these days', 'No product was upvoted.', PRODUCT_COLUMNS, top, ({ upvotes, ...product }) => [
    count(upvotes),
    product.productId,
    product.productName,
  ]);
  section(
    'Hours with far more upvotes than the product’s others',
    'No hour stands out.',
    [{ title: 'HOUR (UTC)', colour: 'dim' }, ...PRODUCT_COLUMNS],
    hours,
    ({ hour, upvotes, productId, productName }) => [utcMinute(hour), count(upvotes), productId, productName],
  );
  section(
    'Many sessions of one network on one product within an hour (known for a week)',
    'No network stands out.',
    [
      { title: 'HOUR (UTC)', colour: 'dim' },
      { title: 'SESSIONS', align: RIGHT },
      { title: 'NETWORK' },
      ...PRODUCT_COLUMNS.slice(1),
    ],
    networks,
    ({ hour, sessions, network, productId, productName }) => [
      utcMinute(hour),
      count(sessions),
      network,
      productId,
      productName,
    ],
  );
}

const PRODUCT_COLUMNS: readonly Column[] = [
  { title: 'UPVOTES', align: RIGHT },
  { title: 'ID', colour: 'green' },
  { title: 'NAME', shrinks: true },
];

function describeDays(days: readonly DayStats[]): void {
  printTable(
    [{ title: 'DAY (UTC)', colour: 'dim' }, ...KINDS.map((kind) => ({ title: kind.toUpperCase(), align: RIGHT }))],
    [
      ...days.map((day) => [day.day, ...KINDS.map((kind) => count(day[kind]))]),
      ['Together', ...KINDS.map((kind) => count(days.reduce((sum, day) => sum + day[kind], 0)))],
    ],
  );
  console.log();
  for (const kind of KINDS) console.log(`${kind.padEnd(8)}  ${sparkline(days.map((day) => day[kind]))}`.trimEnd());
}

function section<Item>(
  title: string,
  empty: string,
  columns: readonly Column[],
  items: readonly Item[],
  cellsOf: (item: Item) => string[],
): void {
  console.log(`\n${styleFor(process.stdout, process.env)('bold', title)}\n`);
  if (items.length === 0) console.log(empty);
  else printTable(columns, items.map(cellsOf));
}

function count(number: number): string {
  return number.toLocaleString('en');
}
