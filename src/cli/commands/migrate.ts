import { Command } from 'commander';
import { withDatabase } from '../with-database.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database schema up to date (the site does so itself when it starts)')
    .option('--json', 'print the result as JSON')
    .action(async ({ json = false }: { json?: boolean }) => {
      const applied = await withDatabase(async (_connection, names) => names);
      if (json) console.log(JSON.stringify({ applied }));
      else console.log(applied.length > 0 ? `Applied ${applied.join(', ')}` : 'The schema is up to date.');
    });
}
