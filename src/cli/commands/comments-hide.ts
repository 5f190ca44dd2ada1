import { Command } from 'commander';
import { hideComments } from '../../core/comments/hide-comments.ts';
import { commentIdsOf, readText } from '../arguments.ts';
import { reportModeration, reportModerationAsJson } from '../report-moderation.ts';
import { withDatabase } from '../with-database.ts';

export function hideCommand(): Command {
  return new Command('hide')
    .description('hide comments from everybody, their authors too; they can be restored')
    .argument('<ids...>', 'ids of comments, as the list shows them')
    .option('--reason <text>', 'why, for whoever looks at the list or the log later', readText)
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  groundswell comments hide 5a3b1e00-0000-4000-8000-000000000003 --reason spam
  groundswell comments list --hidden`,
    )
    .action(async (ids: string[], { reason, json = false }: { reason?: string; json?: boolean }) => {
      const asked = commentIdsOf(ids);
      const result = await withDatabase(({ database }) => hideComments(database, asked, reason));
      if (json) return reportModerationAsJson({ hidden: result.done, skipped: result.skipped }, result.skipped);
      reportModeration(result, { did: 'Hid', skipped: 'Unknown or hidden already' });
    });
}
