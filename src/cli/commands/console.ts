import { Command } from 'commander';
import { CONSOLE_PATHS } from '../../contract/console/paths.ts';
import { isOperatorName } from '../../contract/console/records.ts';
import { utcMinute } from '../../contract/text.ts';
import { inviteOperator, listOperators, type Operator, revokeOperator } from '../../core/console/operators.ts';
import { readDatabaseTime } from '../../core/database/clock.ts';
import { readSettings } from '../../settings/settings.ts';
import { jsonOption, UsageError } from '../arguments.ts';
import { linkOrigin } from '../site-address.ts';
import { print, printJson } from '../terminal/output.ts';
import { printTable } from '../terminal/table.ts';
import { withDatabase } from '../with-database.ts';

export function consoleCommand(): Command {
  return new Command('console')
    .description("invite operators to the site's console, list them and revoke their access")
    .addCommand(inviteCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());
}

function inviteCommand(): Command {
  return commandOnName(
    'invite',
    'print a one-time link for an operator to set a passphrase',
    '{ "name": "ada", "link": …, "expiresAt": … }',
  )
    .addHelpText(
      'after',
      `
Examples:
  groundswell console invite ada  the link works once, for 24 hours

An operator who already has a passphrase can use the link to set a new one.
The site has no console until the first operator is invited.`,
    )
    .action(async (name: string, { json = false }: { json?: boolean }) => {
      checkName(name);
      const origin = linkOrigin(readSettings(process.env));
      const { token, expiresAt } = await withDatabase(async ({ database }) =>
        inviteOperator(database, name, await readDatabaseTime(database)),
      );
      const link = `${origin}${CONSOLE_PATHS.invitation(token)}`;
      if (json) return printJson({ name, link, expiresAt });
      print(link);
      print(`${name} can use this link once to set a passphrase, until ${utcMinute(expiresAt)} UTC.`);
    });
}

function listCommand(): Command {
  return new Command('list')
    .description('list the operators of the console')
    .addOption(jsonOption('{ "operators": [{ "name": "ada", "active": true, "sessions": 1, … }] }'))
    .addHelpText('after', '\nExamples:\n  groundswell console list')
    .action(async ({ json = false }: { json?: boolean }) => {
      const operators = await withDatabase(async ({ database }) =>
        listOperators(database, await readDatabaseTime(database)),
      );
      if (json) return printJson({ operators });
      if (operators.length === 0) return print('The site has no operators, so it has no console.');
      printTable(
        [
          { title: 'NAME', style: 'green' },
          { title: 'STATE' },
          { title: 'SESSIONS', align: 'right' },
          { title: 'LAST USED (UTC)', style: 'dim' },
        ],
        operators.map((operator) => [
          operator.name,
          stateOf(operator),
          String(operator.sessions),
          operator.lastUsedAt === null ? '' : utcMinute(operator.lastUsedAt),
        ]),
      );
    });
}

function revokeCommand(): Command {
  return commandOnName(
    'revoke',
    "revoke an operator's access immediately, with all sessions and invitations",
    '{ "revoked": "ada" }',
  )
    .addHelpText('after', '\nExamples:\n  groundswell console revoke ada')
    .action(async (name: string, { json = false }: { json?: boolean }) => {
      checkName(name);
      if (!(await withDatabase(({ database }) => revokeOperator(database, name))))
        throw new Error(`there is no operator '${name}': \`groundswell console list\` lists all operators`);
      if (json) return printJson({ revoked: name });
      print(`Revoked ${name}'s access.`);
    });
}

function commandOnName(name: string, description: string, json: string): Command {
  return new Command(name)
    .description(description)
    .argument('<name>', 'name of an operator, such as ada')
    .addOption(jsonOption(json));
}

/** Checks the name of an operator. @throws UsageError if it is invalid. */
function checkName(name: string): void {
  if (!isOperatorName(name))
    throw new UsageError(
      `'${name}' is not an operator name. Use 1 to 32 characters from a-z, 0-9, '.', '_' and '-', beginning with a letter or digit.`,
    );
}

function stateOf({ active, invitedUntil }: Operator): string {
  if (invitedUntil === null) return active ? 'active' : 'invitation expired';
  return `${active ? 'active, ' : ''}invited until ${utcMinute(invitedUntil)}`;
}
