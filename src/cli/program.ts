import { Command } from 'commander';
import { backupCommand } from './commands/backup.ts';
import { commentsCommand } from './commands/comments.ts';
import { countsCommand } from './commands/counts.ts';
import { doctorCommand } from './commands/doctor.ts';
import { exportCommand } from './commands/export.ts';
import { importCommand } from './commands/import.ts';
import { logCommand } from './commands/log.ts';
import { migrateCommand } from './commands/migrate.ts';
import { moveCommand } from './commands/move.ts';
import { productsCommand } from './commands/products.ts';
import { restoreCommand } from './commands/restore.ts';
import { sampleCommand } from './commands/sample.ts';
import { serveCommand } from './commands/serve.ts';
import { statsCommand } from './commands/stats.ts';

/** The operator's command, one file a subcommand. */
export function buildProgram(): Command {
  const program = new Command('groundswell')
    .description(
      'Runs and looks after a Groundswell site. Settings come from the environment: see docs/configuration.md.',
    )
    .addCommand(serveCommand())
    .addCommand(migrateCommand())
    .addCommand(sampleCommand())
    .addCommand(productsCommand())
    .addCommand(commentsCommand())
    .addCommand(logCommand())
    .addCommand(statsCommand())
    .addCommand(countsCommand())
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(moveCommand())
    .addCommand(doctorCommand());
  throwFaults(program);
  return program;
}

/** A command that is added does not inherit this; left to itself it would end the process with a code of its own. */
function throwFaults(command: Command): void {
  command.exitOverride().showHelpAfterError('Run it with --help to see what it takes.');
  command.commands.forEach(throwFaults);
}
