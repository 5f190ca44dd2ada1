import { Command } from 'commander';
import type { Connection } from '../../core/database/connect.ts';
import { readStats, type SiteStats } from '../../core/stats/read-stats.ts';
import { numberReader } from '../arguments.ts';
import { describeStats } from '../describe-stats.ts';
import { withDatabase } from '../with-database.ts';

const MOST_DAYS = 90;

export function statsCommand(): Command {
  return new Command('stats')
    .description('show launches, upvotes and comments a day, the top products, and bursts worth a look')
    .option(
      '--days <number>',
      `how many days of UTC, today included, up to ${MOST_DAYS}`,
      numberReader(1, MOST_DAYS),
      14,
    )
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  groundswell stats
  groundswell stats --days 30 --json | jq '.days[] | [.day, .upvotes] | @tsv' -r`,
    )
    .action(async ({ days, json = false }: { days: number; json?: boolean }) => {
      const stats = await withDatabase((connection) => read(connection, days));
      if (json) return console.log(JSON.stringify(stats));
      describeStats(stats);
    });
}

/** Without a time limit, since the upvotes of many days may be many millions. */
function read(connection: Connection, days: number): Promise<SiteStats> {
  return connection.withoutTimeLimit((database) => readStats(database, { days, now: new Date() }));
}
