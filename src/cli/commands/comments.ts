import { Command } from 'commander';
import { formatQuantity, utcMinute } from '../../contract/text.ts';
import { SHORT_ID_DIGITS } from '../../core/audit/audit-sentence.ts';
import { type BrowsedComment, browseComments, type CommentFilter } from '../../core/comments/browse-comments.ts';
import {
  findCommentIds,
  hideComments,
  holdComments,
  type Moderation,
  releaseComments,
  restoreComments,
} from '../../core/comments/moderate-comments.ts';
import type { Database, Sql } from '../../core/database/database.ts';
import { jsonOption, limitOption, readProductIds, readText, reasonOption, UsageError } from '../arguments.ts';
import { print, printJson, startProgress } from '../terminal/output.ts';
import { printTable } from '../terminal/table.ts';
import { withDatabase } from '../with-database.ts';

/** The exit code if some comments are unknown or already in the requested state. The other comments are changed. */
const EXIT_SOME_SKIPPED = 1;

const MIN_START_CHARACTERS = 4;

export function commentsCommand(): Command {
  return new Command('comments')
    .description('list, hide, restore, hold and release comments')
    .addCommand(listCommand())
    .addCommand(hideCommand())
    .addCommand(restoreCommand())
    .addCommand(holdCommand())
    .addCommand(releaseCommand());
}

function hideCommand(): Command {
  return moderationCommand('hide', hideComments, {
    description: 'hide comments from everyone, including their authors',
    examples: ['hide 9f1c02d7 --reason spam', 'list --hidden'],
    changed: ['hidden', 'Hid'],
    skipped: ['skipped', 'Unknown or already hidden'],
  }).addOption(reasonOption());
}

function restoreCommand(): Command {
  return moderationCommand('restore', restoreComments, {
    description: 'show hidden comments again',
    examples: ['restore 9f1c02d7'],
    changed: ['restored', 'Restored'],
    skipped: ['skipped', 'Unknown or not hidden'],
  });
}

function holdCommand(): Command {
  return moderationCommand('hold', holdComments, {
    description: 'show comments only to operators until `groundswell comments release`',
    examples: ['hold 9f1c02d7'],
    changed: ['held', 'Held'],
    skipped: ['skipped', 'Unknown or already held'],
  });
}

function releaseCommand(): Command {
  return moderationCommand('release', releaseComments, {
    description: 'make held comments public',
    examples: ['list --held', 'release 9f1c02d7'],
    changed: ['released', 'Released'],
    skipped: ['notHeld', 'Unknown or not held'],
  });
}

interface ModerationTexts {
  description: string;
  /** Arguments of `groundswell comments`, which the help shows as examples. */
  examples: readonly string[];
  /** The JSON key of the changed comments, and the verb before their number in the printed report. */
  changed: [json: string, printed: string];
  /** The JSON key of the skipped comments, and the reason before each of their ids in the printed report. */
  skipped: [json: string, printed: string];
}

/** Creates a command that changes comments, and prints `Hid 2 of 3 comments.` and the skipped ids, one per line. */
function moderationCommand(
  name: string,
  change: (database: Database, ids: readonly string[], reason?: string) => Promise<Moderation>,
  { description, examples, changed, skipped }: ModerationTexts,
): Command {
  return new Command(name)
    .description(description)
    .argument('<ids...>', 'comment ids, as shown by `groundswell comments list` or in full')
    .addOption(jsonOption(`{ "${changed[0]}": [{ "id": …, "productId": … }], "${skipped[0]}": [] }`))
    .addHelpText('after', `\nExamples:\n${examples.map((each) => `  groundswell comments ${each}`).join('\n')}`)
    .action(async (ids: string[], { reason, json = false }: { reason?: string; json?: boolean }) => {
      checkCommentIds(ids);
      const result = await withDatabase(async ({ database }) =>
        change(database, await resolveIds(database, ids), reason),
      );
      if (result.skipped.length > 0) process.exitCode = EXIT_SOME_SKIPPED;
      if (json) return printJson({ [changed[0]]: result.done, [skipped[0]]: result.skipped });
      const all = formatQuantity(result.done.length + result.skipped.length, 'comment');
      print(`${changed[1]} ${result.done.length} of ${all}.`);
      for (const id of result.skipped) print(`${skipped[1]}: ${id}`);
    });
}

/** Separates the start and the end of a UUID in a short id. */
const SEPARATOR = '..';

const UUID_SHAPE = 'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx';

/** Checks full and short comment ids. @throws UsageError if an id is malformed. */
function checkCommentIds(ids: readonly string[]): void {
  const wrong = ids.find((id) => {
    const [start, end] = splitId(id);
    const fits =
      start.length <= UUID_SHAPE.length && start.replaceAll(/[\da-f]/gi, 'x') === UUID_SHAPE.slice(0, start.length);
    return (
      start.length < MIN_START_CHARACTERS ||
      !fits ||
      !/^(?:[\da-f]{1,12})?$/i.test(end) ||
      start + (end && SEPARATOR + end) !== id
    );
  });
  if (wrong !== undefined)
    throw new UsageError(`'${wrong}' is not a comment id. Use one from \`groundswell comments list\`.`);
}

/** Resolves short ids to full ids; unknown ids stay unchanged. @throws UsageError if a short id is ambiguous. */
async function resolveIds(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const resolved: string[] = [];
  for (const id of ids) {
    const isFull = id.length === UUID_SHAPE.length && !id.includes(SEPARATOR);
    const found = isFull ? [id] : await findCommentIds(sql, ...splitId(id));
    if (found.length > 1)
      throw new UsageError(`'${id}' matches several comments. Use a longer id, such as ${found.join(' or ')}.`);
    resolved.push(found[0] ?? id);
  }
  return resolved;
}

function splitId(id: string): [start: string, end: string] {
  const [start = '', end = ''] = id.split(SEPARATOR, 2);
  return [start, end];
}

interface Flags {
  held?: boolean;
  hidden?: boolean;
  product?: string;
  text?: string;
  limit: number;
  json?: boolean;
}

/** The number of digits after the last hyphen of a UUID. */
const LAST_DIGITS = 12;

function listCommand(): Command {
  return new Command('list')
    .description('list comments, newest first')
    .option('--held', 'only held comments')
    .option('--hidden', 'only hidden comments')
    .option('--product <id>', 'only comments on this product')
    .option('--text <text>', 'only comments that contain this text, ignoring case', readText)
    .addOption(limitOption(100))
    .addOption(jsonOption('{ "comments": [{ "id": …, "content": …, "held": true, "hidden": null }] }'))
    .addHelpText(
      'after',
      `
Examples:
  groundswell comments list --held
  groundswell comments list --product git --limit 20
  groundswell comments list --text "buy now" --json \\
    | jq -r '.comments[].id' | xargs groundswell comments hide`,
    )
    .action(async ({ held = false, hidden = false, product, text, limit, json = false }: Flags) => {
      if (product !== undefined) readProductIds([product]);
      const filter = {
        ...(held && { held, hidden: false }),
        ...(hidden && { hidden }),
        productId: product,
        text,
        limit,
      };
      const comments = await browse(filter);
      if (json) return printJson({ comments });
      if (comments.length === 0) return print('No comments match.');
      printComments(comments);
    });
}

function browse(filter: CommentFilter): Promise<BrowsedComment[]> {
  const progress = startProgress('Reading comments');
  return withDatabase(({ database }) =>
    browseComments(database, filter, (scanned) => progress.at(scanned)).finally(progress.end),
  );
}

function printComments(comments: readonly BrowsedComment[]): void {
  const shorten = shortIds(comments.map(({ id }) => id));
  printTable(
    [
      { title: 'ID', style: 'green' },
      { title: 'TIME (UTC)', style: 'dim' },
      { title: 'PRODUCT', shrinks: true },
      { title: 'STATE', style: 'yellow' },
      { title: 'TEXT', shrinks: true, lines: 3 },
    ],
    comments.map((comment) => [
      shorten(comment.id),
      utcMinute(comment.createdAt),
      comment.productId,
      stateOf(comment),
      comment.content,
    ]),
  );
}

/**
 * Returns a function that shortens these ids but keeps them unique. If several ids have the same start, as in the
 * sample catalogue, every short id also contains its last 4, 8 or 12 digits: `5a3b1e00..0005`.
 */
function shortIds(ids: readonly string[]): (id: string) => string {
  const areUnique = (shorten: (id: string) => string) => new Set(ids.map(shorten)).size === ids.length;
  for (let end = 0; end <= LAST_DIGITS; end += 4) {
    const shorten = (id: string) => id.slice(0, SHORT_ID_DIGITS) + (end === 0 ? '' : SEPARATOR + id.slice(-end));
    if (areUnique(shorten)) return shorten;
  }
  return (id) => id;
}

function stateOf({ held, hidden }: BrowsedComment): string {
  if (hidden === null) return held ? 'held' : 'public';
  return held ? 'held, hidden' : 'hidden';
}
