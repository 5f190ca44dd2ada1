import { Command } from 'commander';
import type { SubmissionRecord } from '../../contract/console/records.ts';
import type { Product } from '../../contract/products/schema.ts';
import { submissionPaths } from '../../contract/submissions/paths.ts';
import { utcMinute } from '../../contract/text.ts';
import { CoreError } from '../../core/core-error.ts';
import { readDatabaseClock } from '../../core/database/clock.ts';
import type { Database, Sql } from '../../core/database/database.ts';
import { readBeforeCommit } from '../../core/database/transactions.ts';
import { renewMakerKey } from '../../core/submissions/change-submission.ts';
import {
  approveSubmission,
  type DecisionTarget,
  declineSubmission,
  scheduleSubmission,
  undoDecision,
} from '../../core/submissions/decide-submission.ts';
import { type LaunchRules, launchRules } from '../../core/submissions/launch-product.ts';
import { inspectSubmission, listSubmissions, type SubmissionFilter } from '../../core/submissions/list-submissions.ts';
import { readSettings } from '../../settings/settings.ts';
import {
  jsonOption,
  limitOption,
  numberReader,
  readInstant,
  readProductIds,
  readReason,
  readText,
  UsageError,
} from '../arguments.ts';
import { linkOrigin } from '../site-address.ts';
import { print, printError, printJson } from '../terminal/output.ts';
import { printTable } from '../terminal/table.ts';
import { withDatabase } from '../with-database.ts';
import { printFact, productFacts } from './products.ts';

/** The exit code if some decisions fail. The other decisions take effect. */
const EXIT_SOME_FAILED = 1;

const MAX_REVISION = 999_999_999;

interface Flags {
  revision?: number;
  json?: boolean;
}

export function submissionsCommand(): Command {
  return new Command('submissions')
    .description('list, show, approve, schedule and decline submissions, undo decisions, and renew maker links')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(approveCommand())
    .addCommand(declineCommand())
    .addCommand(scheduleCommand())
    .addCommand(undoCommand())
    .addCommand(keyCommand());
}

function approveCommand(): Command {
  return decisionCommand('approve')
    .description('approve submissions; each launches at its requested time, or now if that is unset or past')
    .addHelpText(
      'after',
      '\nExamples:\n  groundswell submissions approve tide-tables\n  groundswell submissions approve tide-tables --revision 3',
    )
    .action((ids: string[], flags: Flags) => decideAll(ids, flags, approveSubmission));
}

function declineCommand(): Command {
  return decisionCommand('decline')
    .description('decline waiting or scheduled submissions; `groundswell submissions undo` reverts the decision')
    .requiredOption(
      '--reason <text>',
      'the reason, for the maker, the audit log and the public moderation log',
      readReason,
    )
    .addHelpText('after', '\nExamples:\n  groundswell submissions decline tide-tables --reason "Please add a picture."')
    .action((ids: string[], { reason, ...flags }: Flags & { reason: string }) =>
      decideAll(ids, flags, (database, target, rules) => declineSubmission(database, target, reason, rules)),
    );
}

function scheduleCommand(): Command {
  return new Command('schedule')
    .description(
      'approve a submission for a given time, or move its launch; `groundswell submissions undo` reverts the decision',
    )
    .argument('<id>', 'id of a submission')
    .argument('<time>', 'the launch time, such as 2026-12-01T09:00:00Z', readInstant)
    .option('--revision <number>', 'only if the submission still has this revision', numberReader(MAX_REVISION))
    .addOption(jsonOption('{ "submissions": […], "failed": [{ "id": …, "code": …, "reason": … }] }'))
    .addHelpText('after', '\nExamples:\n  groundswell submissions schedule tide-tables 2026-12-01T09:00:00+01:00')
    .action((id: string, time: Date, flags: Flags) =>
      decideAll([id], flags, async (database, target, rules) => {
        if (time <= rules.now) throw new UsageError('This time has passed. Choose a time in the future.');
        return scheduleSubmission(database, target, time, rules);
      }),
    );
}

function undoCommand(): Command {
  return decisionCommand('undo')
    .description('undo the last decision on each submission')
    .addHelpText(
      'after',
      `
Undoing an approval removes the launched product from the site. After others
have voted or commented on it, use \`groundswell products remove\` instead.`,
    )
    .action((ids: string[], flags: Flags) => decideAll(ids, flags, undoDecision));
}

function keyCommand(): Command {
  return new Command('key')
    .description('print a new maker link, which replaces the old one')
    .argument('<id>', 'id of a submission')
    .addOption(jsonOption('{ "id": …, "makerKey": …, "makerLink": … }'))
    .action(async (id: string, { json = false }: { json?: boolean }) => {
      readProductIds([id]);
      const origin = linkOrigin(readSettings(process.env));
      const makerKey = await withDatabase(({ database }) => renewMakerKey(database, id));
      const makerLink = `${origin}${submissionPaths.makerLink(id, makerKey)}`;
      if (json) return printJson({ id, makerKey, makerLink });
      print(makerLink);
    });
}

function decisionCommand(name: string): Command {
  return new Command(name)
    .argument('<ids...>', 'submission ids, from `groundswell submissions list`')
    .option(
      '--revision <number>',
      'only if the submission still has this revision; requires a single id',
      numberReader(MAX_REVISION),
    )
    .addOption(jsonOption('{ "submissions": […], "failed": [{ "id": …, "code": …, "reason": … }] }'));
}

type Decide = (database: Database, target: DecisionTarget, rules: LaunchRules) => Promise<unknown>;

/** Decides on submissions one after the other. A failed decision does not stop the others. */
async function decideAll(ids: readonly string[], { revision, json = false }: Flags, decide: Decide): Promise<void> {
  readProductIds(ids);
  if (revision !== undefined && ids.length > 1)
    throw new UsageError('--revision applies to one submission. Name only one, or leave --revision out.');
  const decided: ReturnType<typeof resultOf>[] = [];
  const failed: { id: string; code: string; reason: string }[] = [];
  try {
    await withDatabase(async ({ database }) => {
      const rules = await rulesOf(database);
      for (const id of new Set(ids)) {
        try {
          const decideOne = (on: Database) => decide(on, { id, revision }, rules);
          const inspect = (sql: Sql) => inspectSubmission(sql, id, rules);
          const [, submission] = await readBeforeCommit(database, decideOne, inspect);
          decided.push(resultOf(submission));
        } catch (error) {
          if (!(error instanceof CoreError) || error.code === 'unavailable') throw error;
          failed.push({ id, code: error.code, reason: error.message });
        }
      }
    });
  } finally {
    // The decisions before a failure have taken effect, so they are printed, too.
    if (failed.length > 0) process.exitCode = EXIT_SOME_FAILED;
    if (!json) {
      for (const result of decided) print(sentenceOf(result));
      for (const { id, reason } of failed) printError(`groundswell: ${id}: ${reason}`);
    } else if (decided.length + failed.length > 0) printJson({ submissions: decided, failed });
  }
}

/** Returns launch rules with the database's time, because this machine's clock may differ from the site's. */
const rulesOf = async (database: Database) =>
  launchRules({ now: await readDatabaseClock(database) }, readSettings(process.env).launches.timeZone);

const resultOf = ({ id, status, revision, launchAt, reason }: SubmissionRecord) => ({
  id,
  status,
  revision,
  launchAt,
  reason,
});

function sentenceOf({ id, status, launchAt, reason }: ReturnType<typeof resultOf>): string {
  switch (status) {
    case 'launched':
      return `${id} has launched.`;
    case 'scheduled':
      return `${id} launches at ${utcMinute(launchAt ?? '')} UTC.`;
    case 'declined':
      return `${id} is declined: ${reason}`;
    default:
      return `${id} is waiting for a decision.`;
  }
}

function showCommand(): Command {
  return new Command('show')
    .description("show a submission and its maker's changes since the approval")
    .argument('<id>', 'id of a submission')
    .addOption(jsonOption('{ "submission": {…} }'))
    .addHelpText('after', '\nExamples:\n  groundswell submissions show tide-tables')
    .action(async (id: string, { json = false }: { json?: boolean }) => {
      readProductIds([id]);
      const submission = await withDatabase(async ({ database }) =>
        inspectSubmission(database, id, await rulesOf(database)),
      );
      if (json) return printJson({ submission });
      for (const [name, text] of factsOf(submission)) printFact(name, text);
    });
}

function factsOf(submission: SubmissionRecord): [string, string][] {
  const { status, revision, suspectedSpam, reason, launchAt, product, approvedProduct, createdAt } = submission;
  return [
    ['Status', suspectedSpam ? `${status}, suspected spam` : status],
    ...(reason === null ? [] : [['Reason', reason] as [string, string]]),
    ['Revision', `${revision}`],
    ['Submitted', createdAt],
    ...(status === 'withdrawn' ? [] : [['Launch', launchAt ?? 'as soon as it is approved'] as [string, string]]),
    ...factsOfProduct(product),
    ...(approvedProduct === null ? [] : changesOf(approvedProduct, product)),
  ];
}

/** Returns the fields of a product, except those that its launch determines. */
function factsOfProduct(product: Product): [string, string][] {
  return productFacts(product).filter(([name]) => name !== 'Listed since' && name !== 'Launched');
}

/** Returns the fields of the approved product that differ from the submission. */
function changesOf(approved: Product, product: Product): [string, string][] {
  const present = new Set(factsOfProduct(product).map((fact) => fact.join('\n')));
  return factsOfProduct(approved)
    .filter((fact) => !present.has(fact.join('\n')))
    .map(([name, text]) => [`As approved`, `${name}: ${text}`]);
}

interface ListFlags {
  all?: boolean;
  cursor?: string;
  limit: number;
  json?: boolean;
}

function listCommand(): Command {
  return new Command('list')
    .description('list submissions that are waiting for a decision, oldest first and suspected spam last')
    .option('--all', 'list all submissions, newest first')
    .addOption(limitOption(100))
    .option('--cursor <cursor>', 'continue after the page that printed this cursor', readText)
    .addOption(jsonOption('{ "submissions": […], "nextCursor": … }'))
    .addHelpText(
      'after',
      `
Examples:
  groundswell submissions list
  groundswell submissions list --json \\
    | jq -r '.submissions[] | select(.suspectedSpam) | .id'`,
    )
    .action(async ({ all = false, cursor, limit, json = false }: ListFlags) => {
      const filter: SubmissionFilter = { status: all ? 'all' : 'waiting', limit, cursor };
      const { items, nextCursor } = await withDatabase(async ({ database }) =>
        listSubmissions(database, filter, await rulesOf(database)),
      );
      if (json) return printJson({ submissions: items, nextCursor });
      if (items.length === 0)
        return print(all ? 'There are no submissions.' : 'No submission is waiting for a decision.');
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
