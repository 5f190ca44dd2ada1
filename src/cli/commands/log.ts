import { Command, InvalidArgumentError } from 'commander';
import { utcMinute } from '../../contract/text.ts';
import { AUDIT_ACTIONS, listAudit } from '../../core/audit/audit-log.ts';
import { sentenceOf } from '../../core/audit/audit-sentence.ts';
import { undoEntry } from '../../core/console/undo-entry.ts';
import { readDatabaseClock } from '../../core/database/clock.ts';
import { IMPORT_UNDO_LIMITS } from '../../core/imports/import-changes.ts';
import { isUuid, systemRuntime } from '../../core/runtime.ts';
import { readSettings } from '../../settings/settings.ts';
import { jsonOption, limitOption, readInstant, UsageError } from '../arguments.ts';
import { oneLine, print, printJson } from '../terminal/output.ts';
import { printWithLead } from '../terminal/table.ts';
import { withDatabase } from '../with-database.ts';

interface LogFlags {
  limit: number;
  action?: string;
  until?: Date;
  json?: boolean;
}

export function logCommand(): Command {
  return (
    new Command('log')
      .description('show the audit log: changes by operators, newest first')
      .addOption(limitOption(50))
      .option('--action <action>', 'only this action, such as import', readAction)
      .option('--until <time>', 'only entries before this time, such as 2026-01-31T18:00:00Z', readInstant)
      .addOption(
        jsonOption(
          '{ "entries": [{ "id": …, "createdAt": …, "operator": "ada", "action": "comments hide", "target": …, "details": {…}, "undoes": null }] }',
        ),
      )
      .addHelpText(
        'after',
        `
Examples:
  groundswell log --limit 10
  groundswell log --action import --json`,
      )
      .addCommand(undoCommand())
      // Commander treats options on either side of `undo` as options of `log`, but `undo` accepts only `--json`.
      .hook('preSubcommand', (log) => {
        const given = log.options.filter((option) => log.getOptionValueSource(option.attributeName()) === 'cli');
        const foreign = given.find(({ long }) => long !== '--json');
        if (foreign !== undefined) throw new UsageError(`'log undo' has no option ${foreign.long}. Leave it out.`);
      })
      .action(async ({ json = false, ...filter }: LogFlags) => {
        const entries = await withDatabase(({ database }) => listAudit(database, filter));
        if (json) return printJson({ entries });
        const isFiltered = filter.action !== undefined || filter.until !== undefined;
        if (entries.length === 0) return print(isFiltered ? 'No entries match.' : 'The audit log is empty.');
        for (const entry of entries) {
          printWithLead(['dim', `${utcMinute(entry.createdAt)}  `], `${entry.operator} ${sentenceOf(entry)}.`);
        }
      })
  );
}

function readAction(text: string): string {
  if (AUDIT_ACTIONS.some((action) => action === text || action.startsWith(`${text} `))) return text;
  throw new InvalidArgumentError(`Use one of these, or the first word of one: ${AUDIT_ACTIONS.join(', ')}.`);
}

function undoCommand(): Command {
  return new Command('undo')
    .description('undo the change that an entry records, such as a removal, an edit or an import')
    .argument('<id>', 'id of an entry, from `groundswell log --json`')
    .addOption(jsonOption('{ "undone": {…}, "note": null }'))
    .addHelpText(
      'after',
      `
Examples:
  groundswell log undo 0f8fad5b-d9cb-469f-a165-70867728950e

${IMPORT_UNDO_LIMITS}
Products that have been edited or removed since the import are left unchanged.`,
    )
    .action(async (id: string, _options: object, command: Command) => {
      const { json = false } = command.optsWithGlobals<{ json?: boolean }>();
      if (!isUuid(id))
        throw new UsageError(`'${id}' is not the id of an audit log entry. Use one from \`groundswell log --json\`.`);
      const { launches } = readSettings(process.env);
      const { entry, note } = await withDatabase(async (connection) => {
        const runtime = { ...systemRuntime, now: await readDatabaseClock(connection.database) };
        return undoEntry(connection, id, { runtime, ...launches });
      });
      if (json) return printJson({ undone: entry, note });
      print(`Undone: ${oneLine(entry.operator)} ${oneLine(sentenceOf(entry))}.${note === null ? '' : ` ${note}`}`);
    });
}
