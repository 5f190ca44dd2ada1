import { Command } from 'commander';
import { PACKAGE_VERSION } from '../settings/package-root.ts';
import { backupCommand, restoreCommand } from './commands/backup.ts';
import { commentsCommand } from './commands/comments.ts';
import { consoleCommand } from './commands/console.ts';
import { countsCommand } from './commands/counts.ts';
import { doctorCommand } from './commands/doctor.ts';
import { exportCommand } from './commands/export.ts';
import { importCommand } from './commands/import.ts';
import { leaderboardsCommand } from './commands/leaderboards.ts';
import { logCommand } from './commands/log.ts';
import { migrateCommand } from './commands/migrate.ts';
import { moveCommand } from './commands/move.ts';
import { productsCommand } from './commands/products.ts';
import { sampleCommand } from './commands/sample.ts';
import { serveCommand } from './commands/serve.ts';
import { statsCommand } from './commands/stats.ts';
import { submissionsCommand } from './commands/submissions.ts';
import { votesCommand } from './commands/votes.ts';
import { webhooksCommand } from './commands/webhooks.ts';
import { print, printError } from './terminal/output.ts';

/** Builds the `groundswell` command with its subcommands. */
export function buildProgram(): Command {
  const program = new Command('groundswell')
    .description('Runs and manages a Groundswell site. Settings come from the environment: see docs/configuration.md.')
    .version(PACKAGE_VERSION, '--version', 'print the version')
    .addCommand(serveCommand())
    .addCommand(migrateCommand())
    .addCommand(sampleCommand())
    .addCommand(productsCommand())
    .addCommand(commentsCommand())
    .addCommand(submissionsCommand())
    .addCommand(leaderboardsCommand())
    .addCommand(votesCommand())
    .addCommand(logCommand())
    .addCommand(webhooksCommand())
    .addCommand(statsCommand())
    .addCommand(countsCommand())
    .addCommand(consoleCommand())
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(moveCommand())
    .addCommand(doctorCommand());
  configure(program);
  return program;
}

/**
 * Configures a command and its subcommands, which do not inherit the configuration: they would exit with code 1 instead
 * of 2 after a usage error.
 */
function configure(command: Command): void {
  command
    .exitOverride()
    .showHelpAfterError('Run the command with --help to see its options.')
    .configureOutput({
      writeOut: (text) => print(text.trimEnd()),
      writeErr: (text) => printError(text.trimEnd()),
    });
  command.commands.forEach(configure);
}
