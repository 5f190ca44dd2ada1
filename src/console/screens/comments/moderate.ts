import { useQueryClient } from '@tanstack/react-query';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { CommentAction, ConsoleComment, ModerationResult } from '../../../contract/console/records.ts';
import { formatQuantity } from '../../../contract/text.ts';
import { undoEach, usePerform } from '../../api/actions.ts';
import { call, describeUnchanged, sendEach } from '../../api/console-api.ts';
import { changeItems } from '../../api/pages.ts';

const DONE: Record<CommentAction, string> = { hide: 'Hid', restore: 'Restored', hold: 'Held', release: 'Released' };

/** An action, and the comments to which it applies. */
interface Change {
  action: CommentAction;
  comments: readonly ConsoleComment[];
}

const idsOf = (comments: readonly ConsoleComment[]) => comments.map(({ id }) => id);
const countOf = (ids: readonly string[]) => formatQuantity(ids.length, 'comment');
const noteOf = (skipped: readonly string[]) =>
  skipped.length > 0 ? `${countOf(skipped)} had already changed.` : undefined;

/**
 * Returns a function that moderates comments, with an optimistic update and one undo for all changes. It calls
 * `onChanged` with the comments that were changed.
 */
export function useModerate() {
  const client = useQueryClient();
  const perform = usePerform();

  return (changes: readonly Change[], onChanged: (changed: readonly ConsoleComment[]) => void, reason?: string) => {
    const actions = new Map(changes.flatMap(({ action, comments }) => idsOf(comments).map((id) => [id, action])));
    async function send({ action, comments }: Change) {
      const result = await call<ModerationResult>(CONSOLE_API.moderateComments, {
        method: 'POST',
        body: { action, ids: idsOf(comments), ...(reason && { reason }) },
      });
      onChanged(comments.filter(({ id }) => result.done.includes(id)));
      return { ...result, action };
    }
    return perform({
      subjects: ['comments'],
      isInDialog: changes.some(({ action }) => action === 'hide'),
      show: () =>
        changeItems<ConsoleComment>(client, 'comments', (comment, { state }) => {
          const action = actions.get(comment.id);
          return action ? ifInList(applyAction(comment, action, reason), state) : comment;
        }),
      async run() {
        const sent = await sendEach(changes, send);
        const auditIds = sent.results.flatMap((result) => result.auditIds);
        const subject = `audit entry ${auditIds[0]}`;
        const unchanged = describeUnchanged(sent, (each) => countOf(each.flatMap(({ comments }) => idsOf(comments))));
        return {
          done: sent.results.map(({ action, done }) => `${DONE[action]} ${countOf(done)}`).join('. '),
          note: [noteOf(sent.results.flatMap(({ skipped }) => skipped)), unchanged].filter(Boolean).join(' '),
          ...(auditIds.length > 0 && { subject, undo: () => undoEach(auditIds, 'comment', subject) }),
        };
      },
    });
  };
}

function applyAction(comment: ConsoleComment, action: CommentAction, reason = ''): ConsoleComment {
  switch (action) {
    case 'hide':
      return { ...comment, hidden: { since: new Date().toISOString(), reason: reason || null } };
    case 'restore':
      return { ...comment, hidden: null };
    case 'hold':
      return { ...comment, held: true };
    case 'release':
      return { ...comment, held: false };
  }
}

/** Returns the comment, or undefined if a list that is filtered by `state` no longer contains it. */
function ifInList(comment: ConsoleComment, state: string | undefined): ConsoleComment | undefined {
  const fits = {
    held: comment.held && comment.hidden === null,
    hidden: comment.hidden !== null,
    public: !comment.held && comment.hidden === null,
  }[state ?? ''];
  return fits === false ? undefined : comment;
}
