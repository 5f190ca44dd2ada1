import { Command } from 'commander';
import { jsonOption } from '../arguments.ts';
import { print, printJson } from '../terminal/output.ts';
import { withDatabase } from '../with-database.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('update the database schema, as the site does when it starts')
    .addOption(jsonOption('{ "applied": ["0001_initial.sql"] }'))
    .action(async ({ json = false }: { json?: boolean }) => {
      const applied = await withDatabase(async (_connection, names) => names, { create: true });
      if (json) printJson({ applied });
      else print(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The schema is up to date.');
    });
}
