import { Command } from 'commander';
import { releaseComments } from '../../core/comments/release-comments.ts';
import { commentIdsOf } from '../arguments.ts';
import { reportModeration, reportModerationAsJson } from '../report-moderation.ts';
import { withDatabase } from '../with-database.ts';

export function releaseCommand(): Command {
  return new Command('release')
    .description('make held comments public')
    .argument('<ids...>', 'ids of comments, as the list shows them')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  groundswell comments list --held\n  groundswell comments release 5a3b1e00-0000-4000-8000-000000000003',
    )
    .action(async (ids: string[], { json = false }: { json?: boolean }) => {
      const asked = commentIdsOf(ids);
      const { released, notHeld } = await withDatabase(({ database }) => releaseComments(database, asked));
      if (json) return reportModerationAsJson({ released, notHeld }, notHeld);
      reportModeration({ done: released, skipped: notHeld }, { did: 'Released', skipped: 'Not held' });
    });
}
