import { Command, InvalidArgumentError } from 'commander';
import { type BrowsedComment, browseComments } from '../../core/comments/browse-comments.ts';
import { releaseComments } from '../../core/comments/release-comments.ts';
import { isUuid } from '../../core/uuid.ts';
import { oneLine } from '../one-line.ts';
import { UsageError } from '../usage-error.ts';
import { withDatabase } from '../with-database.ts';

/** Some asked for were not held: somebody released them before, or they are gone. */
const NOT_ALL = 1;

const MOST_LISTED = 1_000;

export function commentsCommand(): Command {
  return new Command('comments')
    .description('look at comments, and release those that are held back')
    .addCommand(listCommand())
    .addCommand(releaseCommand());
}

function listCommand(): Command {
  return new Command('list')
    .description('list the newest comments')
    .option('--held', 'only those that are held back until they are released')
    .option('--limit <number>', `how many at most, up to ${MOST_LISTED}`, readLimit, 100)
    .option('--json', 'print the result as JSON')
    .action(async ({ held = false, limit, json = false }: { held?: boolean; limit: number; json?: boolean }) => {
      const comments = await withDatabase(({ database }) => browseComments(database, { heldOnly: held, limit }));
      if (json) return console.log(JSON.stringify({ comments }));
      for (const comment of comments) console.log(lineOf(comment));
      if (comments.length === 0) console.log(held ? 'No comment is held.' : 'There are no comments.');
    });
}

function releaseCommand(): Command {
  return new Command('release')
    .description('make held comments public')
    .argument('<ids...>', 'ids of comments, as the list shows them')
    .option('--json', 'print the result as JSON')
    .action(async (ids: string[], { json = false }: { json?: boolean }) => {
      const wrong = ids.find((id) => !isUuid(id));
      if (wrong !== undefined) throw new UsageError(`'${oneLine(wrong)}' is no id of a comment`);
      const release = await withDatabase(({ database }) => releaseComments(database, ids));
      if (release.notHeld.length > 0) process.exitCode = NOT_ALL;
      if (json) return console.log(JSON.stringify(release));
      console.log(`Released ${release.released.length} of ${ids.length} comments.`);
      for (const id of release.notHeld) console.log(`Not held: ${id}`);
    });
}

function readLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MOST_LISTED) throw new InvalidArgumentError(`It must be a number from 1 to ${MOST_LISTED}.`);
  return limit;
}

function lineOf({ id, productId, createdAt, authorName, content, held }: BrowsedComment): string {
  return `${id}  ${createdAt}  ${productId}  ${held ? 'held  ' : ''}${oneLine(authorName)}: ${oneLine(content)}`;
}
