import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import {
  type BurstRecord,
  MAX_LISTED_BURSTS,
  MAX_LISTED_VOTES,
  type VoteList,
} from '../../../contract/console/records.ts';
import * as paths from '../../../contract/paths.ts';
import { formatCount, formatQuantity } from '../../../contract/text.ts';
import { usePerform } from '../../api/actions.ts';
import { call, consoleKeys, messageOf } from '../../api/console-api.ts';
import { usePages } from '../../api/pages.ts';
import { goTo } from '../../location.ts';
import { FormDialog, ReasonField, useReason } from '../../ui/form-dialog.tsx';
import { List } from '../../ui/list.tsx';
import { Segments } from '../../ui/page.tsx';
import { Empty, Loading } from '../../ui/states.tsx';

const HOUR_MS = 3_600_000;

/**
 * Lists the hours in which many sessions from one network voted for one product. The key D opens a dialog to exclude
 * the hour's votes from leaderboards.
 */
export function BurstList() {
  const pages = usePages<BurstRecord>('votes', CONSOLE_API.bursts);
  const perform = usePerform();
  const [shown, setShown] = useState<BurstRecord>();

  function change(burst: BurstRecord, { action, reason, voters }: VoteChoice): Promise<unknown> {
    const { productId, productName } = burst;
    return perform({
      subjects: ['votes'],
      isInDialog: true,
      async run() {
        const { votes, auditId } = await call<{ votes: number; auditId: string | null }>(CONSOLE_API.votes(productId), {
          method: 'POST',
          body: { action, reason, voters },
        });
        const done = action === 'exclude' ? 'Excluded' : 'Included';
        if (auditId === null)
          return { done: 'No votes changed', note: `They were already ${done.toLowerCase()} or withdrawn.` };
        const note = `${productName}, ${describeHour(burst)}`;
        return { done: `${done} ${formatQuantity(votes, 'vote')}`, note, auditId };
      },
    });
  }

  return (
    <>
      <List
        label="Vote bursts"
        pages={pages}
        keyOf={({ hour, productId, network }) => `${hour} ${productId} ${network}`}
        estimatePx={64}
        onOpen={setShown}
        keys={{ d: ([burst]) => setShown(burst) }}
        empty={
          <Empty title="No bursts">
            <p>
              If twenty or more visitors from one network vote for one product within one clock hour, this list shows
              the burst for a week.
            </p>
          </Empty>
        }
        renderRow={(burst) => (
          <div className="row">
            <div className="row-body">
              <p className="row-line">
                <strong>{burst.sessions} sessions</strong> from one network voted for{' '}
                <a href={paths.product(burst.productId)} dir="auto">
                  {burst.productName}
                </a>
              </p>
              <p className="row-meta">
                <span>{describeHour(burst)}</span>
                <button
                  type="button"
                  className="text-button"
                  onClick={() => goTo('audit', { target: burst.productId })}
                >
                  Decisions
                </button>
                {burst.excluded > 0 && (
                  <span className="tag">{formatQuantity(burst.excluded, 'vote')} for this product excluded</span>
                )}
              </p>
            </div>
            <div className="row-actions">
              <button
                type="button"
                className="button"
                data-tone="outline"
                data-row-focus
                onClick={() => setShown(burst)}
              >
                Show votes<span className="visually-hidden"> for {burst.productName}</span>
              </button>
            </div>
          </div>
        )}
      />
      {pages.count >= MAX_LISTED_BURSTS && (
        <p>At most the {formatCount(MAX_LISTED_BURSTS)} largest bursts are listed.</p>
      )}
      {shown && (
        <VotesDialog burst={shown} onClose={() => setShown(undefined)} onSubmit={(choice) => change(shown, choice)} />
      )}
    </>
  );
}

/** The votes to change. They are identified by voter, so votes that the dialog did not list stay unchanged. */
interface VoteChoice {
  action: 'exclude' | 'include';
  reason: string;
  voters: string[];
}

interface VotesDialogProps {
  burst: BurstRecord;
  onClose: () => void;
  onSubmit: (choice: VoteChoice) => Promise<unknown>;
}

const REASONS = {
  exclude: ['A burst from one network', 'Bought votes'],
  include: ['Looked at one by one', 'A shared network'],
};

const WHY_EXCLUDED = { network: 'Limit per network', operator: 'Excluded by an operator' } as const;

/** Lists the counted and the excluded votes of an hour. The operator can exclude or include any of them. */
function VotesDialog({ burst, onClose, onSubmit }: VotesDialogProps) {
  const { productId, productName, hour } = burst;
  const [action, setAction] = useState<'exclude' | 'include'>('exclude');
  const [reason, setReason] = useReason(`${action} ${productId} ${hour}`);
  const [deselected, setDeselected] = useState<ReadonlySet<string>>(new Set());
  const votes = useQuery({
    queryKey: consoleKeys.votesToDecide(productId, hour),
    queryFn: ({ signal }) =>
      call<VoteList>(CONSOLE_API.votes(productId), { query: { from: hour, to: endOf(burst) }, signal }),
    // Each dialog loads the votes once.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const all = votes.data?.votes ?? [];
  const counted = all.filter((vote) => vote.counted);
  const listed = action === 'exclude' ? counted : all.filter((vote) => !vote.counted);
  const chosen = listed.filter(({ voter }) => !deselected.has(voter));

  return (
    <FormDialog
      title={`Votes for ${productName}`}
      label={`${action === 'exclude' ? 'Exclude' : 'Include'} ${formatQuantity(chosen.length, 'vote')}`}
      isDisabled={chosen.length === 0}
      onClose={onClose}
      onSubmit={() => onSubmit({ action, reason: reason.trim(), voters: chosen.map(({ voter }) => voter) })}
    >
      <p className="quiet">
        {describeHour(burst)}. Excluded votes no longer count on the leaderboards, but the upvote button still counts
        them. The stored data does not identify networks, so this list may also contain votes from other networks in
        this hour.
      </p>
      {votes.isPending ? (
        <Loading label="Loading the votes" rows={4} />
      ) : !votes.data ? (
        <p className="gate-error" role="alert">
          {messageOf(votes.error)}
        </p>
      ) : (
        <>
          <Segments
            label="Votes"
            value={action}
            options={[
              ['exclude', `Counted ${counted.length}`],
              ['include', `Excluded ${all.length - counted.length}`],
            ]}
            onChange={setAction}
          />
          {all.length >= MAX_LISTED_VOTES && (
            <p>
              At most {formatCount(MAX_LISTED_VOTES)} votes of an hour are listed. To change others, use{' '}
              <code>groundswell votes</code> on the server.
            </p>
          )}
          <section className="votes" aria-label={action === 'exclude' ? 'Counted votes' : 'Excluded votes'}>
            {listed.length === 0 && <p className="quiet">There are none in this hour.</p>}
            {listed.map(({ voter, at, reason: why }) => (
              <label key={voter} className="vote">
                <input
                  type="checkbox"
                  checked={!deselected.has(voter)}
                  onChange={() => {
                    const next = new Set(deselected);
                    if (!next.delete(voter)) next.add(voter);
                    setDeselected(next);
                  }}
                />
                <time dateTime={at}>{at.slice(11, 19)}</time>
                <code>{voter.slice(0, 8)}</code>
                {why && <span className="tag">{WHY_EXCLUDED[why]}</span>}
              </label>
            ))}
          </section>
        </>
      )}
      <ReasonField value={reason} suggestions={REASONS[action]} isRequired onChange={setReason} />
    </FormDialog>
  );
}

const endOf = ({ hour }: BurstRecord) => new Date(Date.parse(hour) + HOUR_MS).toISOString();

function describeHour(burst: BurstRecord): string {
  const { hour } = burst;
  return `${hour.slice(0, 10)}, ${hour.slice(11, 16)} to ${endOf(burst).slice(11, 16)} UTC`;
}
