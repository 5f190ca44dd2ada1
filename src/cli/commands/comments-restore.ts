import { Command } from 'commander';
import { restoreComments } from '../../core/comments/restore-comments.ts';
import { commentIdsOf } from '../arguments.ts';
import { reportModeration, reportModerationAsJson } from '../report-moderation.ts';
import { withDatabase } from '../with-database.ts';

export function restoreCommand(): Command {
  return new Command('restore')
    .description('show hidden comments again')
    .argument('<ids...>', 'ids of comments, as the list shows them')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExamples:\n  groundswell comments restore 5a3b1e00-0000-4000-8000-000000000003')
    .action(async (ids: string[], { json = false }: { json?: boolean }) => {
      const asked = commentIdsOf(ids);
      const result = await withDatabase(({ database }) => restoreComments(database, asked));
      if (json) return reportModerationAsJson({ restored: result.done, skipped: result.skipped }, result.skipped);
      reportModeration(result, { did: 'Restored', skipped: 'Unknown or not hidden' });
    });
}
