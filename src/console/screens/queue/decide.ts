import { useQueryClient } from '@tanstack/react-query';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { DecidedSubmission, SubmissionRecord } from '../../../contract/console/records.ts';
import { formatQuantity } from '../../../contract/text.ts';
import { showToast } from '../../../web/ui/toasts.ts';
import { progressReporter, undoEntry, usePerform } from '../../api/actions.ts';
import { call, describeUnchanged, sendEach } from '../../api/console-api.ts';
import { changeItems } from '../../api/pages.ts';
import type { Progress } from '../../ui/form-dialog.tsx';

export type Decision =
  | { action: 'approve' }
  | { action: 'schedule'; launchAt: string }
  | { action: 'decline'; reason: string };

const DONE: Record<Decision['action'], string> = { approve: 'Approved', schedule: 'Scheduled', decline: 'Declined' };

const ONGOING: Record<Decision['action'], string> = {
  approve: 'Approving',
  schedule: 'Scheduling',
  decline: 'Declining',
};

/** Sends one request per submission. If a submission has changed since it was listed, only its own request fails. */
async function sendAll<Item>(
  items: readonly Item[],
  ongoing: string,
  send: (item: Item) => Promise<DecidedSubmission>,
  progress: Progress,
) {
  const sent = await sendEach(items, send, progressReporter(ongoing, items, progress.show), progress.isCancelled);
  const { results } = sent;
  const [only] = results;
  return {
    results,
    what: results.length === 1 && only ? only.submission.product.name : formatQuantity(results.length, 'submission'),
    note: describeUnchanged(sent, ({ length }) => formatQuantity(length, 'submission')) || undefined,
  };
}

/**
 * The ids of the submissions in running batches. Live updates may list a submission again until its request is done, so
 * further decisions on it are ignored.
 */
const deciding = new Set<string>();

/**
 * Returns a function that decides on submissions, optimistically removes them from the queue, and offers undo. It calls
 * `onChanged` with the submissions that were decided. Without `progress`, toasts show the progress.
 */
export function useDecide() {
  const client = useQueryClient();
  const perform = usePerform();

  return async (
    decision: Decision,
    chosen: readonly SubmissionRecord[],
    onChanged: (changed: readonly SubmissionRecord[]) => void,
    progress?: Progress,
  ) => {
    const submissions = chosen.filter(({ id }) => !deciding.has(id));
    if (submissions.length === 0) return showToast({ title: 'Still being decided', description: '' });
    for (const { id } of submissions) deciding.add(id);
    const subject = `decision on ${submissions[0]?.id}`;
    const toast: Progress = {
      show: (title) => showToast({ title, description: '', subject }),
      isCancelled: () => false,
    };
    await perform({
      subjects: ['queue', 'products'],
      isInDialog: progress !== undefined,
      show: () =>
        changeItems<SubmissionRecord>(client, 'queue', (each) =>
          submissions.some(({ id }) => id === each.id) ? undefined : each,
        ),
      async run() {
        const { results, what, note } = await sendAll(
          submissions,
          ONGOING[decision.action],
          ({ id, revision }) => {
            const body = { ...decision, revision };
            return call<DecidedSubmission>(CONSOLE_API.decideSubmission(id), { method: 'POST', body });
          },
          progress ?? toast,
        );
        onChanged(results.map(({ submission }) => submission));
        return {
          done: `${DONE[decision.action]} ${what}`,
          note,
          subject,
          async undo() {
            const undoOne = async (decided: DecidedSubmission) => {
              await undoEntry(decided.auditId);
              return decided;
            };
            const undone = await sendAll(results, 'Undoing', undoOne, toast);
            return undone.note && `Undone for ${undone.what}. ${undone.note}`;
          },
        };
      },
    }).finally(() => {
      for (const { id } of submissions) deciding.delete(id);
    });
  };
}
