import { Command, Option } from 'commander';
import { PERIOD_KINDS, type Period, type PeriodKind, parsePeriod } from '../../contract/leaderboards/period.ts';
import { formatCount, formatQuantity, utcMinute } from '../../contract/text.ts';
import { readDatabaseTime } from '../../core/database/clock.ts';
import type { Sql } from '../../core/database/database.ts';
import { type CheckedBoard, checkBoard, countLaunches, repairBoard } from '../../core/leaderboards/check-board.ts';
import { getLeaderboard } from '../../core/leaderboards/get-leaderboard.ts';
import { listLeaderboards } from '../../core/leaderboards/list-leaderboards.ts';
import { readSettings } from '../../settings/settings.ts';
import { jsonOption, limitOption, UsageError } from '../arguments.ts';
import { print, printJson } from '../terminal/output.ts';
import { printTable } from '../terminal/table.ts';
import { withDatabase } from '../with-database.ts';

const EXIT_DIFFERENT = 1;

const PERIOD_FORMS = 'a day (2026-11-21), week (2026-W47), month (2026-11) or year (2026)';

/** The maximum page size of leaderboards in the API, the default limit of `show`, and the maximum limit of `list`. */
const MAX_SHOWN = 100;

export function leaderboardsCommand(): Command {
  return new Command('leaderboards')
    .description('list, show and check leaderboards')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(checkCommand());
}

/** Returns the rules with the database's time, because this machine's clock may differ from the site's. */
const rulesOf = async (sql: Sql) => ({ ...readSettings(process.env).launches, now: await readDatabaseTime(sql) });

function listCommand(): Command {
  return new Command('list')
    .description('list the periods with launches, newest first')
    .addOption(new Option('--kind <kind>', 'kind of period to list').choices(PERIOD_KINDS).default('day'))
    .addOption(limitOption(30, MAX_SHOWN))
    .addOption(jsonOption('{ "leaderboards": [{ "period": …, "status": …, "launches": …, "winners": […], … }] }'))
    .action(async ({ kind, limit, json = false }: { kind: PeriodKind; limit: number; json?: boolean }) => {
      const { items } = await withDatabase(async ({ database }) =>
        listLeaderboards(database, { kind, limit }, await rulesOf(database)),
      );
      if (json) return printJson({ leaderboards: items });
      if (items.length === 0) return print('There is no leaderboard yet.');
      printTable(
        [
          { title: 'PERIOD', style: 'green' },
          { title: 'STATUS' },
          { title: 'LAUNCHES', align: 'right' },
          { title: 'WINNERS', shrinks: true },
        ],
        items.map(({ period, status, launches, winners }) => [
          period,
          status,
          formatCount(launches),
          winners.map(({ productId, votes }) => `${productId} (${formatCount(votes)})`).join(', '),
        ]),
      );
    });
}

function showCommand(): Command {
  return new Command('show')
    .description('show a leaderboard, highest rank first')
    .argument('<period>', PERIOD_FORMS)
    .addOption(limitOption(MAX_SHOWN))
    .addOption(jsonOption('{ "period": …, "status": …, "revision": 0, "digest": …, "items": […], … }'))
    .action(async (name: string, { limit, json = false }: { limit: number; json?: boolean }) => {
      const { name: period } = readPeriod(name);
      const board = await withDatabase(async ({ database }) =>
        getLeaderboard(database, period, { limit }, await rulesOf(database)),
      );
      if (board === null) throw new Error(noLeaderboard(period));
      if (json) return printJson(board);
      const revision = board.revision === 0 ? '' : `, revision ${board.revision}`;
      const until = board.status === 'final' ? ' since' : ', final from';
      print(
        `${period}: ${formatQuantity(board.launches, 'launch', 'launches')}, ${board.status}${until} ${utcMinute(board.finalAt)} UTC${revision}`,
      );
      if (board.digest) print(board.digest);
      printTable(
        [
          { title: 'RANK', align: 'right' },
          { title: 'ID', style: 'green' },
          { title: 'NAME', shrinks: true },
          { title: 'VOTES', align: 'right' },
          { title: 'EXCLUDED', align: 'right' },
          { title: 'UPVOTES', align: 'right' },
        ],
        board.items.map(({ rank, tied, productId, name, votes, excluded, upvotes }) => [
          `${tied ? '=' : ''}${rank}`,
          productId,
          name,
          ...[votes, excluded, upvotes].map(formatCount),
        ]),
      );
    });
}

function checkCommand(): Command {
  return new Command('check')
    .description(
      'recount the votes of a period and compare the result with its leaderboard; exit with code 1 if they differ',
    )
    .argument('<period>', PERIOD_FORMS)
    .option('--repair', 'correct wrong counts and ranks; a final tally stays unchanged')
    .addOption(jsonOption('{ "period": "2026-11-21", "launches": 23, "votes": 812, "differences": [] }'))
    .action(async (name: string, { repair = false, json = false }: { repair?: boolean; json?: boolean }) => {
      const period = readPeriod(name);
      const checked = await withDatabase((connection) =>
        connection.withoutStatementTimeout(async (database) => {
          if (!repair) return (await checkBoard(database, period)) ?? checkWithoutBoard(database, period);
          const repaired = await repairBoard(database, period, readSettings(process.env).launches.votesPerNetwork);
          if (!json && repaired && repaired.found.differences.length > 0) {
            for (const difference of repaired.found.differences) print(difference);
            print('The differences above were found. The result after the repair:');
          }
          return repaired?.left ?? checkWithoutBoard(database, period);
        }),
      );
      const { launches, votes, differences } = checked;
      if (differences.length > 0) process.exitCode = EXIT_DIFFERENT;
      if (json) return printJson({ period: period.name, launches, votes, differences });
      for (const difference of differences) print(difference);
      const result = differences.length === 0 ? 'everything agrees' : formatQuantity(differences.length, 'difference');
      const counted = `${formatQuantity(launches, 'launch', 'launches')}, ${formatQuantity(votes, 'counted vote')}`;
      print(`${period.name}: ${counted}: ${result}.`);
    });
}

/**
 * Checks a period that has no stored leaderboard. If the period has launches, the missing leaderboard is a difference.
 * @throws Error if the API has no leaderboard for the period.
 */
async function checkWithoutBoard(sql: Sql, period: Period): Promise<Omit<CheckedBoard, 'wrong'>> {
  const { name } = period;
  if ((await getLeaderboard(sql, name, { limit: 1 }, await rulesOf(sql))) === null)
    throw new Error(noLeaderboard(name));
  const launches = await countLaunches(sql, period);
  const differences = launches > 0 ? [`the leaderboard of ${name} is missing, although the period has launches`] : [];
  return { launches, votes: 0, differences };
}

function noLeaderboard(period: string): string {
  return `there is no leaderboard for ${period}: \`groundswell leaderboards list\` lists the periods that have one`;
}

/** Parses the name of a period. @throws UsageError if it is invalid. */
function readPeriod(name: string): Period {
  const period = parsePeriod(name);
  if (period === undefined)
    throw new UsageError(`'${name}' is not a period. Use the form 2026-11-21, 2026-W47, 2026-11 or 2026.`);
  return period;
}
