import { Command } from 'commander';
import { hideCommand } from './comments-hide.ts';
import { listCommand } from './comments-list.ts';
import { releaseCommand } from './comments-release.ts';
import { restoreCommand } from './comments-restore.ts';

export function commentsCommand(): Command {
  return new Command('comments')
    .description('look at comments, hide them, and release those that are held back')
    .addCommand(listCommand())
    .addCommand(hideCommand())
    .addCommand(restoreCommand())
    .addCommand(releaseCommand());
}
