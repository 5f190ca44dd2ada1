import { Command } from 'commander';
import { migrateCommand } from './commands/migrate.ts';
import { sampleCommand } from './commands/sample.ts';
import { serveCommand } from './commands/serve.ts';

/** The operator's command, one file a subcommand. */
export function buildProgram(): Command {
  return new Command('groundswell')
    .description(
      'Runs and looks after a Groundswell site. Settings come from the environment: see docs/configuration.md.',
    )
    .exitOverride()
    .showHelpAfterError('Run it with --help to see what it takes.')
    .addCommand(serveCommand())
    .addCommand(migrateCommand())
    .addCommand(sampleCommand());
}
