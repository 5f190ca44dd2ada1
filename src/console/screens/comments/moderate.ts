import { useQueryClient } from '@tanstack/react-query';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import {
  type CommentAction,
  type ConsoleComment,
  INVERSE_ACTIONS,
  type ModerationResult,
} from '../../../contract/console/records.ts';
import { formatQuantity } from '../../../contract/text.ts';
import { noteOfUndo, usePerform } from '../../api/actions.ts';
import { call, messageOf, sendByReason } from '../../api/console-api.ts';
import { changeItems } from '../../api/pages.ts';

const DONE: Record<CommentAction, string> = { hide: 'Hid', restore: 'Restored', hold: 'Held', release: 'Released' };

const send = (action: CommentAction, ids: readonly string[], reason?: string) =>
  call<ModerationResult>(CONSOLE_API.moderateComments, {
    method: 'POST',
    body: { action, ids, ...(reason && { reason }) },
  });

const idsOf = (comments: readonly ConsoleComment[]) => comments.map(({ id }) => id);
const countOf = (ids: readonly string[]) => formatQuantity(ids.length, 'comment');
const noteOf = (skipped: readonly string[]) =>
  skipped.length > 0 ? `${countOf(skipped)} had already changed.` : undefined;

/**
 * @returns a function that moderates comments, with an optimistic update and undo. It calls `onChanged` with the comments
 * that were in the expected state.
 */
export function useModerate() {
  const client = useQueryClient();
  const perform = usePerform();

  return (
    action: CommentAction,
    comments: readonly ConsoleComment[],
    onChanged: (changed: readonly ConsoleComment[]) => void,
    reason?: string,
  ) => {
    const ids = idsOf(comments);
    return perform({
      subjects: ['comments'],
      isInDialog: action === 'hide',
      show: () =>
        changeItems<ConsoleComment>(client, 'comments', (comment, { state }) =>
          ids.includes(comment.id) ? fitting(after(comment, action, reason), state) : comment,
        ),
      async run() {
        const { done, skipped } = await send(action, ids, reason);
        const changed = comments.filter(({ id }) => done.includes(id));
        onChanged(changed);
        return {
          done: `${DONE[action]} ${countOf(done)}`,
          note: noteOf(skipped),
          ...(changed.length > 0 && { undo: () => undoAll(action, changed) }),
        };
      },
    });
  };
}

/**
 * Undoes an action. Restored comments are hidden again with their former reasons, in one request per reason.
 * @returns a note if some of the comments had changed, or their request failed. @throws Error if none was changed.
 */
async function undoAll(action: CommentAction, comments: readonly ConsoleComment[]): Promise<string | undefined> {
  const { results, failed, error } = await sendByReason(
    comments,
    ({ hidden }) => hidden?.reason,
    (group, reason) => send(INVERSE_ACTIONS[action], idsOf(group), reason),
  );
  return noteOfUndo(
    results.flatMap(({ done }) => done),
    countOf,
    [
      noteOf(results.flatMap(({ skipped }) => skipped)),
      failed.length > 0 && `Failed for ${countOf(idsOf(failed))}. ${messageOf(error)}`,
    ],
  );
}

function after(comment: ConsoleComment, action: CommentAction, reason = ''): ConsoleComment {
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

/** Returns the comment, or undefined if it no longer belongs in a list that is filtered by `state`. */
function fitting(comment: ConsoleComment, state: string | undefined): ConsoleComment | undefined {
  const fits = {
    held: comment.held && comment.hidden === null,
    hidden: comment.hidden !== null,
    public: !comment.held && comment.hidden === null,
  }[state ?? ''];
  return fits === false ? undefined : comment;
}
