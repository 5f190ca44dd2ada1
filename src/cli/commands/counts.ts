import { Command } from 'commander';
import { formatQuantity } from '../../contract/text.ts';
import { checkCounts, repairCounts, type WrongCount } from '../../core/counts/check-counts.ts';
import type { Database } from '../../core/database/database.ts';
import { jsonOption } from '../arguments.ts';
import { print, printJson, startProgress } from '../terminal/output.ts';
import { withDatabase } from '../with-database.ts';

/** The number of products per statement. Batches avoid long-lived snapshots and let the command show its progress. */
const BATCH = 1_000;

/** The maximum number of printed products. The JSON contains all of them. */
const MAX_NAMED = 20;

const EXIT_COUNTS_WRONG = 1;

interface CountsReport {
  checked: number;
  wrong: WrongCount[];
  repaired: boolean;
}

export function countsCommand(): Command {
  return new Command('counts')
    .description('check the stored counts of upvotes and comments, and repair them')
    .addCommand(checkCommand());
}

function checkCommand(): Command {
  return new Command('check')
    .description(
      'compare each stored count with the number of rows; exit with code 1 if any differs and is not repaired',
    )
    .option('--repair', 'correct wrong counts')
    .addOption(
      jsonOption(
        '{ "checked": 67, "wrong": [{ "productId": "git", "upvotes": { "stored": 7, "rows": 6 }, "comments": { "stored": null, "rows": 1 } }], "repaired": false }',
      ),
    )
    .action(async ({ repair = false, json = false }: { repair?: boolean; json?: boolean }) => {
      const report = await withDatabase(({ withoutStatementTimeout }) =>
        withoutStatementTimeout((database) => checkAll(database, repair)),
      );
      if (json) printJson(report);
      else printReport(report);
      if (report.wrong.length > 0 && !repair) process.exitCode = EXIT_COUNTS_WRONG;
    });
}

async function checkAll(database: Database, repair: boolean): Promise<CountsReport> {
  const report: CountsReport = { checked: 0, wrong: [], repaired: repair };
  const progress = startProgress('Checking products');
  for (let after: string | null = ''; after !== null; ) {
    const batch = await checkCounts(database, { after, limit: BATCH });
    report.checked += batch.checked;
    const wrongIds = batch.wrong.map(({ productId }) => productId);
    // A repair returns the counts that were still wrong once they were locked.
    report.wrong.push(...(repair ? await repairCounts(database, wrongIds) : batch.wrong));
    progress.at(report.checked);
    after = batch.next;
  }
  progress.end();
  return report;
}

function printReport({ checked, wrong, repaired }: CountsReport): void {
  const products = formatQuantity(checked, 'product');
  if (wrong.length === 0) {
    print(`The counts of ${products} are correct.`);
    return;
  }
  for (const { productId, upvotes, comments } of wrong.slice(0, MAX_NAMED)) {
    print(`${productId}: ${describeCount('upvote', upvotes)}, ${describeCount('comment', comments)}`);
  }
  if (wrong.length > MAX_NAMED) print(`… and ${wrong.length - MAX_NAMED} more (--json lists all)`);
  const outcome = repaired ? 'They were corrected.' : 'Run `groundswell counts check --repair` to correct them.';
  print(`Found wrong counts for ${wrong.length} of ${products}. ${outcome}`);
}

function describeCount(noun: string, { stored, rows }: WrongCount['upvotes']): string {
  if (stored === rows) return formatQuantity(rows, noun);
  return `${formatQuantity(rows, noun)} (${stored === null ? 'not stored' : `stored as ${stored}`})`;
}
