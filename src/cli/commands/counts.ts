import { Command } from 'commander';
import { checkCounts, repairCounts, type WrongCount } from '../../core/counts/check-counts.ts';
import type { Database } from '../../core/database/database.ts';
import { withDatabase } from '../with-database.ts';

/** Products a statement: a snapshot is not held for long, and progress shows. */
const BATCH = 1_000;

/** Named on a terminal; all of them are in the JSON. */
const MOST_NAMED = 20;

const COUNTS_WRONG = 1;

interface CountsReport {
  checked: number;
  wrong: WrongCount[];
  repaired: boolean;
}

export function countsCommand(): Command {
  return new Command('counts').description('look after the counts of upvotes and comments').addCommand(checkCommand());
}

function checkCommand(): Command {
  return new Command('check')
    .description('compare every count with the rows that it counts; exit code 1 when one is wrong')
    .option('--repair', 'set wrong counts right')
    .option('--json', 'print the result as JSON')
    .action(async ({ repair = false, json = false }: { repair?: boolean; json?: boolean }) => {
      const report = await withDatabase(({ database }) => checkAll(database, repair));
      if (json) console.log(JSON.stringify(report));
      else describeReport(report);
      if (report.wrong.length > 0 && !repair) process.exitCode = COUNTS_WRONG;
    });
}

async function checkAll(database: Database, repair: boolean): Promise<CountsReport> {
  const report: CountsReport = { checked: 0, wrong: [], repaired: repair };
  for (let after: string | null = ''; after !== null; ) {
    const batch = await checkCounts(database, { after, limit: BATCH });
    report.checked += batch.checked;
    report.wrong.push(...(repair ? await repairThose(database, batch.wrong) : batch.wrong));
    showProgress(report);
    after = batch.next;
  }
  endProgress();
  return report;
}

/** What was wrong when its turn came: between the look and the lock it may have been set right. */
function repairThose(database: Database, wrong: readonly WrongCount[]): Promise<WrongCount[]> {
  return repairCounts(
    database,
    wrong.map(({ productId }) => productId),
  );
}

/** On standard error, so that it never ends up in what another program reads. */
function showProgress({ checked, wrong }: CountsReport): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${checked.toLocaleString('en')} checked, ${wrong.length} wrong`);
}

function endProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}

function describeReport({ checked, wrong, repaired }: CountsReport): void {
  const products = `${checked.toLocaleString('en')} ${checked === 1 ? 'product' : 'products'}`;
  if (wrong.length === 0) {
    console.log(`The counts of ${products} are right.`);
    return;
  }
  for (const { productId, upvotes, comments } of wrong.slice(0, MOST_NAMED)) {
    console.log(`${productId}: ${describeCount('upvotes', upvotes)}, ${describeCount('comments', comments)}`);
  }
  if (wrong.length > MOST_NAMED) console.log(`… and ${wrong.length - MOST_NAMED} more (--json names all)`);
  console.log(
    `Of ${products}, ${wrong.length} had wrong counts. ${repaired ? 'They are set right.' : 'Run it with --repair to set them right.'}`,
  );
}

function describeCount(name: string, { stored, rows }: WrongCount['upvotes']): string {
  return stored === rows ? `${rows} ${name}` : `${rows} ${name}, stored as ${stored ?? 'nothing'}`;
}
