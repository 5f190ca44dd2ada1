import { useQueryClient } from '@tanstack/react-query';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import {
  type CommentAction,
  type ConsoleComment,
  INVERSE_ACTIONS,
  type ModerationResult,
} from '../../../contract/console/records.ts';
import { usePerform } from '../../api/actions.ts';
import { call } from '../../api/console-api.ts';
import { changeItems } from '../../api/pages.ts';
import { formatQuantity } from '../../ui/format-count.ts';

const DONE: Record<CommentAction, string> = { hide: 'Hid', restore: 'Restored', hold: 'Held', release: 'Released' };

const send = (action: CommentAction, ids: readonly string[], reason?: string) =>
  call<ModerationResult>(CONSOLE_API.moderateComments, {
    method: 'POST',
    body: { action, ids, ...(reason && { reason }) },
  });

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
    const ids = comments.map(({ id }) => id);
    return perform({
      subjects: ['comments'],
      show: () =>
        changeItems<ConsoleComment>(client, 'comments', (comment, { state }) =>
          ids.includes(comment.id) ? fitting(after(comment, action, reason), state) : comment,
        ),
      async run() {
        const { done, skipped } = await send(action, ids, reason);
        onChanged(comments.filter(({ id }) => done.includes(id)));
        const undo = () => (action === 'restore' ? hideAgain(comments, done) : send(INVERSE_ACTIONS[action], done));
        return {
          done: `${DONE[action]} ${formatQuantity(done.length, 'comment')}`,
          ...(skipped.length > 0 && { note: `${formatQuantity(skipped.length, 'comment')} had already changed.` }),
          ...(done.length > 0 && { undo }),
        };
      },
    });
  };
}

/** Hides restored comments again with their former reasons, in one request per reason. */
async function hideAgain(comments: readonly ConsoleComment[], ids: readonly string[]): Promise<void> {
  const byReason = new Map<string, string[]>();
  for (const { id, hidden } of comments) {
    if (!ids.includes(id)) continue;
    const reason = hidden?.reason ?? '';
    byReason.set(reason, [...(byReason.get(reason) ?? []), id]);
  }
  for (const [reason, hiddenFor] of byReason) await send('hide', hiddenFor, reason);
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
    held: comment.held,
    hidden: comment.hidden !== null,
    public: !comment.held && comment.hidden === null,
  }[state ?? ''];
  return fits === false ? undefined : comment;
}
