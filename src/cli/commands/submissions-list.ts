import { Command } from 'commander';
import type { SubmissionRecord } from '../../contract/console/records.ts';
import { systemRuntime } from '../../core/runtime.ts';
import { listSubmissions } from '../../core/submissions/list-submissions.ts';
import { readSettings } from '../../settings/settings.ts';
import { jsonOption, limitOption, readText } from '../arguments.ts';
import { print, printJson, utcMinute } from '../terminal/output.ts';
import { printTable } from '../terminal/table.ts';
import { withDatabase } from '../with-database.ts';

interface Flags {
  all?: boolean;
  cursor?: string;
  limit: number;
  json?: boolean;
}

export function listCommand(): Command {
  return new Command('list')
    .description('list submissions that wait for a decision, the oldest first and suspected spam last')
    .option('--all', 'every submission, the newest first')
    .addOption(limitOption(100))
    .option('--cursor <cursor>', 'continue after the previous page, with the cursor that it printed', readText)
    .addOption(jsonOption('{ "submissions": […], "nextCursor": … }'))
    .addHelpText(
      'after',
      `
Examples:
  groundswell submissions list
  groundswell submissions list --json \\
    | jq -r '.submissions[] | select(.suspectedSpam) | .id'`,
    )
    .action(async ({ all = false, cursor, limit, json = false }: Flags) => {
      const { timeZone } = readSettings(process.env).launches;
      const { items, nextCursor } = await withDatabase(({ database }) =>
        listSubmissions(
          database,
          { status: all ? 'all' : 'waiting', limit, cursor },
          { now: systemRuntime.now(), timeZone },
        ),
      );
      if (json) return printJson({ submissions: items, nextCursor });
      if (items.length === 0) return print(all ? 'Nothing was submitted.' : 'No submission waits for a decision.');
      printSubmissions(items);
      if (nextCursor !== null) print('\n', `More: --cursor ${nextCursor}`);
    });
}

function printSubmissions(submissions: readonly SubmissionRecord[]): void {
  printTable(
    [
      { title: 'ID', style: 'green', shrinks: true },
      { title: 'NAME', shrinks: true },
      { title: 'MAKER', shrinks: true },
      { title: 'STATUS', style: 'yellow' },
      { title: 'REVISION', align: 'right' },
      { title: 'SINCE (UTC)', style: 'dim' },
    ],
    submissions.map((submission) => [
      submission.id,
      submission.product.name,
      submission.product.maker,
      stateOf(submission),
      `${submission.revision}`,
      utcMinute(submission.status === 'waiting' ? submission.waitingSince : submission.updatedAt),
    ]),
  );
}

function stateOf({ status, suspectedSpam, approvedProduct }: SubmissionRecord): string {
  if (status !== 'waiting') return status;
  if (suspectedSpam) return 'spam?';
  return approvedProduct === null ? 'waiting' : 'edited';
}
