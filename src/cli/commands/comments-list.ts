import { Command } from 'commander';
import { type BrowsedComment, browseComments, type CommentFilter } from '../../core/comments/browse-comments.ts';
import { limitOption, productIdsOf, readText } from '../arguments.ts';
import { startProgress } from '../progress.ts';
import { printTable } from '../terminal/print-table.ts';
import { utcMinute } from '../terminal/utc-minute.ts';
import { withDatabase } from '../with-database.ts';

interface Flags {
  held?: boolean;
  hidden?: boolean;
  product?: string;
  text?: string;
  limit: number;
  json?: boolean;
}

export function listCommand(): Command {
  return new Command('list')
    .description('list the newest comments')
    .option('--held', 'only those that are held back until they are released')
    .option('--hidden', 'only those that were hidden')
    .option('--product <id>', 'only those on this product')
    .option('--text <text>', 'only those with this text in them, in any case', readText)
    .addOption(limitOption(100))
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  groundswell comments list --held
  groundswell comments list --product git --limit 20
  groundswell comments list --text "buy now" --json | jq -r '.comments[].id' | xargs groundswell comments hide`,
    )
    .action(async ({ held = false, hidden = false, product, text, limit, json = false }: Flags) => {
      if (product !== undefined) productIdsOf([product]);
      const filter = { heldOnly: held, hiddenOnly: hidden, productId: product, text, limit };
      const comments = await browse(filter);
      if (json) return console.log(JSON.stringify({ comments }));
      if (comments.length === 0) return console.log('There are no such comments.');
      print(comments);
    });
}

function browse(filter: CommentFilter): Promise<BrowsedComment[]> {
  const progress = startProgress('Looking through comments');
  return withDatabase(({ database }) =>
    browseComments(database, filter, (looked) => progress.at(looked)).finally(progress.end),
  );
}

function print(comments: readonly BrowsedComment[]): void {
  printTable(
    [
      { title: 'ID', colour: 'green' },
      { title: 'TIME (UTC)', colour: 'dim' },
      { title: 'PRODUCT', shrinks: true },
      { title: 'STATE', colour: 'yellow' },
      { title: 'AUTHOR', shrinks: true },
      { title: 'TEXT', shrinks: true },
    ],
    comments.map((comment) => [
      comment.id,
      utcMinute(comment.createdAt),
      comment.productId,
      stateOf(comment),
      comment.authorName,
      comment.content,
    ]),
  );
}

function stateOf({ held, hidden }: BrowsedComment): string {
  if (hidden === null) return held ? 'held' : 'public';
  return held ? 'held, hidden' : 'hidden';
}
