import { useState } from 'react';
import type { SubmissionRecord } from '../../../contract/console/records.ts';
import type { Pages } from '../../api/pages.ts';
import { FormDialog, type Progress, ReasonDialog } from '../../ui/form-dialog.tsx';
import { type Deselect, List } from '../../ui/list.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Decision, useDecide } from './decide.ts';
import { SubmissionRow } from './submission-row.tsx';

interface Asking {
  action: 'decline' | 'schedule';
  submissions: readonly SubmissionRecord[];
  deselect: Deselect<SubmissionRecord>;
}

/** Submissions, oldest first. The key A approves, D declines with a reason, and S schedules. */
export function SubmissionList({ pages }: { pages: Pages<SubmissionRecord> }) {
  const decide = useDecide();
  const [asking, setAsking] = useState<Asking>();

  function act(
    action: Decision['action'],
    submissions: readonly SubmissionRecord[],
    deselect: Deselect<SubmissionRecord>,
  ): void {
    if (action === 'approve') void decide({ action }, submissions, deselect);
    else setAsking({ action, submissions, deselect });
  }

  return (
    <>
      <List
        label="Submissions"
        pages={pages}
        keyOf={({ id }) => id}
        versionOf={({ revision }) => revision}
        estimatePx={200}
        empty={
          <Empty title="All caught up">
            <p>New submissions appear here, oldest first.</p>
          </Empty>
        }
        keys={{
          a: (submissions, deselect) => act('approve', submissions, deselect),
          d: (submissions, deselect) => act('decline', submissions, deselect),
          s: (submissions, deselect) => act('schedule', submissions, deselect),
        }}
        renderRow={(submission, state, deselect) => (
          <SubmissionRow
            submission={submission}
            state={state}
            onAct={(action) => act(action, [submission], deselect)}
          />
        )}
        renderBar={(submissions, deselect) => (
          <>
            {(['approve', 'schedule', 'decline'] as const).map((action) => (
              <button
                key={action}
                type="button"
                className="button"
                data-tone={action === 'approve' ? 'primary' : 'outline'}
                onClick={() => act(action, submissions, deselect)}
              >
                {{ approve: 'Approve', schedule: 'Schedule', decline: 'Decline' }[action]}
              </button>
            ))}
          </>
        )}
      />
      {asking?.action === 'decline' && (
        <ReasonDialog
          title={titleOf('Decline', asking.submissions)}
          note="The maker sees the reason and can submit another version."
          suggestions={[
            'Not a tech product',
            'Looks like spam',
            'Please describe what it does',
            'The picture is missing',
          ]}
          label="Decline"
          isRequired
          onClose={() => setAsking(undefined)}
          onSubmit={(reason, progress) =>
            decide({ action: 'decline', reason }, asking.submissions, asking.deselect, progress)
          }
        />
      )}
      {asking?.action === 'schedule' && (
        <ScheduleDialog
          title={titleOf('Schedule', asking.submissions)}
          launchAt={asking.submissions[0]?.launchAt ?? null}
          onClose={() => setAsking(undefined)}
          onSubmit={(launchAt, progress) =>
            decide({ action: 'schedule', launchAt }, asking.submissions, asking.deselect, progress)
          }
        />
      )}
    </>
  );
}

function titleOf(verb: string, submissions: readonly SubmissionRecord[]): string {
  return submissions.length === 1
    ? `${verb} ${submissions[0]?.product.name}`
    : `${verb} ${submissions.length} submissions`;
}

interface ScheduleDialogProps {
  title: string;
  launchAt: string | null;
  onClose: () => void;
  onSubmit: (launchAt: string, progress: Progress) => Promise<unknown>;
}

/** Asks for the launch time in UTC. */
function ScheduleDialog({ launchAt, onSubmit, ...dialog }: ScheduleDialogProps) {
  const [now] = useState(() => new Date().toISOString());
  const [time, setTime] = useState(() =>
    (launchAt !== null && launchAt > now ? launchAt : tomorrowAtNine()).slice(0, 16),
  );
  return (
    <FormDialog {...dialog} label="Approve and schedule" onSubmit={(progress) => onSubmit(`${time}:00Z`, progress)}>
      <label className="field">
        <span>Launches (UTC)</span>
        <input
          type="datetime-local"
          required
          min={now.slice(0, 16)}
          value={time}
          onChange={(event) => setTime(event.target.value)}
        />
      </label>
      <p className="quiet">The approval takes effect now. The product stays hidden until this time.</p>
    </FormDialog>
  );
}

function tomorrowAtNine(): string {
  const day = new Date(Date.now() + 24 * 3_600_000).toISOString().slice(0, 10);
  return `${day}T09:00:00.000Z`;
}
