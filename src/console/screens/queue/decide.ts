import { useQueryClient } from '@tanstack/react-query';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { SubmissionRecord } from '../../../contract/console/records.ts';
import { usePerform } from '../../api/actions.ts';
import { call, messageOf, sendEach } from '../../api/console-api.ts';
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

/** If a submission has changed in the meantime, only its decision fails. */
async function sendAll(submissions: readonly SubmissionRecord[], decision: Decision | { action: 'undo' }) {
  const { results, failed, error } = await sendEach(submissions, ({ id, revision }) => send(id, revision, decision));
  const decided = results.map(({ submission }) => submission);
  const [only] = decided;
  return {
    decided,
    what: decided.length === 1 && only ? only.product.name : formatQuantity(decided.length, 'submission'),
    note:
      failed.length > 0 ? `Failed for ${formatQuantity(failed.length, 'submission')}. ${messageOf(error)}` : undefined,
  };
}

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
  ) =>
    perform({
      subjects: ['queue', 'products'],
      isInDialog: decision.action !== 'approve',
      show: () =>
        changeItems<SubmissionRecord>(client, 'queue', (each) =>
          submissions.some(({ id }) => id === each.id) ? undefined : each,
        ),
      async run() {
        const { decided, what, note } = await sendAll(submissions, decision);
        onChanged(decided);
        return {
          done: `${DONE[decision.action]} ${what}`,
          note,
          async undo() {
            const undone = await sendAll(decided, { action: 'undo' });
            return undone.note && `Undone for ${undone.what}. ${undone.note}`;
          },
        };
      },
    });
}
