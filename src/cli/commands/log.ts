import { Command } from 'commander';
import { listActs } from '../../core/audit/list-acts.ts';
import { limitOption } from '../arguments.ts';
import { printTable } from '../terminal/print-table.ts';
import { withDatabase } from '../with-database.ts';

export function logCommand(): Command {
  return new Command('log')
    .description('show what was done to the site by command: when, by whom, and to what')
    .addOption(limitOption(50))
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  groundswell log --limit 10
  groundswell log --json | jq '.acts[] | select(.act == "products remove")'`,
    )
    .action(async ({ limit, json = false }: { limit: number; json?: boolean }) => {
      const acts = await withDatabase(({ database }) => listActs(database, { limit }));
      if (json) return console.log(JSON.stringify({ acts }));
      if (acts.length === 0) return console.log('Nothing was done by command yet.');
      printTable(
        [
          { title: 'TIME', colour: 'dim' },
          { title: 'OPERATOR' },
          { title: 'ACT', colour: 'green' },
          { title: 'SUBJECT', shrinks: true },
          { title: 'DETAILS', shrinks: true },
        ],
        acts.map(({ actedAt, operator, act, subject, details }) => [
          actedAt,
          operator,
          act,
          subject,
          JSON.stringify(details),
        ]),
      );
    });
}
