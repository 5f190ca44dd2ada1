import { Command } from 'commander';
import { formatQuantity } from '../../contract/text.ts';
import { changeVerdicts, undoVerdicts, type VerdictChange } from '../../core/leaderboards/change-verdicts.ts';
import { listVotes } from '../../core/leaderboards/list-votes.ts';
import { systemRuntime } from '../../core/runtime.ts';
import { recordEvents } from '../../core/webhooks/outbox.ts';
import { readSettings } from '../../settings/settings.ts';
import { jsonOption, limitOption, readInstant, readProductIds, reasonOption, UsageError } from '../arguments.ts';
import { print, printJson } from '../terminal/output.ts';
import { printTable } from '../terminal/table.ts';
import { withDatabase } from '../with-database.ts';

interface Flags {
  voter?: string[];
  from?: Date;
  to?: Date;
  reason: string;
  json?: boolean;
}

export function votesCommand(): Command {
  return new Command('votes')
    .description('list, exclude and include votes of a launch, and undo the last change')
    .addCommand(listCommand())
    .addCommand(changeCommand('exclude'))
    .addCommand(changeCommand('include'))
    .addCommand(undoCommand());
}

function listCommand(): Command {
  return new Command('list')
    .description('list the votes in the launch window of a product, in the order of the tally of its launch day')
    .argument('<product>', 'id of a product')
    .addOption(limitOption(100))
    .addOption(
      jsonOption('{ "productId": …, "day": …, "votes": [{ "voter": …, "at": …, "counted": true, "reason": null }] }'),
    )
    .action(async (id: string, { limit, json = false }: { limit: number; json?: boolean }) => {
      readProductIds([id]);
      const { day, votes } = await withDatabase(({ database }) =>
        listVotes(database, id, { limit, runtime: systemRuntime }),
      );
      if (json) return printJson({ productId: id, day, votes });
      if (votes.length === 0) return print(`${id} has no votes in its launch window.`);
      printTable(
        [{ title: 'VOTER', style: 'green' }, { title: 'AT (UTC)', style: 'dim' }, { title: 'COUNTED' }],
        votes.map(({ voter, at, reason }) => [
          voter,
          at.slice(0, 19).replace('T', ' '),
          reason === null ? 'yes' : `no (${reason})`,
        ]),
      );
    });
}

function changeCommand(action: 'exclude' | 'include'): Command {
  const done = action === 'exclude' ? 'Excluded' : 'Included';
  return new Command(action)
    .description(
      action === 'exclude'
        ? 'exclude counted votes of a launch; `groundswell votes undo` counts them again'
        : 'include excluded votes of a launch; `groundswell votes undo` excludes them again',
    )
    .argument('<product>', 'id of a product')
    .option('--voter <hash...>', 'only votes by these voters (hashes from the tally)', readVoters)
    .option('--from <time>', 'only votes cast since this time, such as 2026-01-31T18:00:00Z', readInstant)
    .option('--to <time>', 'only votes cast before this time', readInstant)
    .addOption(reasonOption().makeOptionMandatory())
    .addOption(jsonOption('{ "auditId": …, "productId": …, "day": …, "votes": 3, "revised": ["2026-11-19"] }'))
    .addHelpText(
      'after',
      `\nExamples:\n  groundswell votes ${action} git --from 2026-11-21T18:00:00Z --reason "a burst"`,
    )
    .action(async (productId: string, { voter: voters, from, to, reason, json = false }: Flags) => {
      readProductIds([productId]);
      if (voters === undefined && from === undefined && to === undefined)
        throw new UsageError('Select the votes with --voter, --from or --to.');
      const selection = { voters, from, to };
      const { webhooks, launches } = readSettings(process.env);
      const change = await withDatabase((connection) =>
        connection.withoutStatementTimeout((database) =>
          changeVerdicts(
            database,
            { productId, action, reason, selection },
            systemRuntime,
            webhooks && recordEvents,
            launches.votesPerNetwork,
          ),
        ),
      );
      if (json) return printJson(change);
      if (change.auditId !== null) return print(sentenceOf(done, change));
      print(`${productId} has no ${action === 'exclude' ? 'counted' : 'excluded'} votes that match.`);
    });
}

function undoCommand(): Command {
  return new Command('undo')
    .description('undo the last exclusion or inclusion of votes of a launch')
    .argument('<product>', 'id of a product')
    .addOption(jsonOption('{ "auditId": …, "productId": …, "day": …, "votes": 3, "revised": ["2026-11-19"] }'))
    .action(async (productId: string, { json = false }: { json?: boolean }) => {
      readProductIds([productId]);
      const change = await withDatabase((connection) =>
        connection.withoutStatementTimeout((database) =>
          undoVerdicts(database, productId, systemRuntime, readSettings(process.env).launches.votesPerNetwork),
        ),
      );
      if (change === undefined)
        throw new Error(`there is no exclusion or inclusion of votes for '${productId}' to undo`);
      if (json) printJson(change);
      else print(sentenceOf('Undid the last exclusion or inclusion of', change));
    });
}

function sentenceOf(done: string, { productId, day, votes, revised }: VerdictChange): string {
  const revision = revised.length === 0 ? '' : ` New revision of ${revised.join(', ')}.`;
  return `${done} ${formatQuantity(votes, 'vote')} for ${productId}, launch day ${day}.${revision}`;
}

/** Adds a voter to the previous arguments. @throws UsageError if the voter is malformed. */
function readVoters(voter: string, others: string[] = []): string[] {
  if (!/^[0-9a-f]{32}$/.test(voter))
    throw new UsageError(`'${voter}' is not a voter hash. Use one from \`groundswell votes list\`.`);
  return [...others, voter];
}
