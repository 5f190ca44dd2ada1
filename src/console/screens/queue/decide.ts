import { useQueryClient } from '@tanstack/react-query';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { SubmissionRecord } from '../../../contract/console/records.ts';
import { usePerform } from '../../api/actions.ts';
import { call, messageOf } from '../../api/console-api.ts';
import { changeItems } from '../../api/pages.ts';
import { formatQuantity } from '../../ui/format-count.ts';

export type Decision =
  | { action: 'approve' }
  | { action: 'schedule'; launchAt: string }
  | { action: 'decline'; reason: string };

const DONE: Record<Decision['action'], string> = { approve: 'Approved', schedule: 'Scheduled', decline: 'Declined' };

const send = (id: string, revision: number, decision: Decision | { action: 'undo' }) =>
  call<{ submission: SubmissionRecord }>(CONSOLE_API.decideSubmission(id), {
    method: 'POST',
    body: { ...decision, revision },
  });

/**
 * @returns a function that decides on submissions, optimistically removes them from the queue, and offers undo. It calls
 * `onChanged` with the submissions whose decision did not fail.
 */
export function useDecide() {
  const client = useQueryClient();
  const perform = usePerform();

  return (
    decision: Decision,
    submissions: readonly SubmissionRecord[],
    onChanged: (changed: readonly SubmissionRecord[]) => void,
  ) => {
    const decided: SubmissionRecord[] = [];
    return perform({
      subjects: ['queue', 'products'],
      show: () =>
        changeItems<SubmissionRecord>(client, 'queue', (each) =>
          submissions.some(({ id }) => id === each.id) ? undefined : each,
        ),
      async run() {
        const failed: unknown[] = [];
        // One request per submission: if a submission has changed in the meantime, only its decision fails.
        for (const { id, revision } of submissions) {
          await send(id, revision, decision).then(
            ({ submission }) => decided.push(submission),
            (error: unknown) => failed.push(error),
          );
        }
        if (decided.length === 0) throw failed[0];
        onChanged(decided);
        const [only] = decided;
        const what = decided.length === 1 && only ? only.product.name : formatQuantity(decided.length, 'submission');
        return {
          done: `${DONE[decision.action]} ${what}`,
          ...(failed.length > 0 && {
            note: `Failed for ${formatQuantity(failed.length, 'submission')}. ${messageOf(failed[0])}`,
          }),
          undo: () => Promise.all(decided.map(({ id, revision }) => send(id, revision, { action: 'undo' }))),
        };
      },
    });
  };
}
