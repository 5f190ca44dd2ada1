import type { ModeratedComment } from '../core/comments/moderate-comments.ts';

/** Some asked for were so already, or are gone: the others were done. */
const NOT_ALL = 1;

/** What became of comments, by the word for what was done: `Hid 2 of 3 comments.` and the others, an id a line. */
export function reportModeration(
  { done, skipped }: { done: readonly ModeratedComment[]; skipped: readonly string[] },
  words: { did: string; skipped: string },
): void {
  if (skipped.length > 0) process.exitCode = NOT_ALL;
  const all = done.length + skipped.length;
  console.log(`${words.did} ${done.length} of ${all} ${all === 1 ? 'comment' : 'comments'}.`);
  for (const id of skipped) console.log(`${words.skipped}: ${id}`);
}

/** The same for other programs. */
export function reportModerationAsJson(report: object, skipped: readonly string[]): void {
  if (skipped.length > 0) process.exitCode = NOT_ALL;
  console.log(JSON.stringify(report));
}
