import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import { type BurstRecord, MAX_LISTED_VOTES, type VoteList } from '../../../contract/console/records.ts';
import { formatCount, formatQuantity } from '../../../contract/text.ts';
import { call, consoleKeys, messageOf } from '../../api/console-api.ts';
import { FormDialog, ReasonField } from '../../ui/form-dialog.tsx';
import { Segments } from '../../ui/page.tsx';
import { Loading } from '../../ui/states.tsx';

/** The votes to change. They are identified by voter, so votes that were not listed do not change. */
export interface VoteChoice {
  action: 'exclude' | 'include';
  reason: string;
  voters: string[];
}

interface Props {
  burst: BurstRecord;
  /** When the hour of the burst ends. */
  to: string;
  description: string;
  onClose: () => void;
  onSubmit: (choice: VoteChoice) => Promise<unknown>;
}

const REASONS = {
  exclude: ['A burst from one network', 'Bought votes'],
  include: ['Looked at one by one', 'A shared network'],
};

const WHY_EXCLUDED = { network: 'Limit per network', operator: 'Excluded by an operator' } as const;

/** Lists the counted and the excluded votes of an hour. The operator excludes or includes all or only some of them. */
export function VotesDialog({ burst: { productId, productName, hour }, to, description, onClose, onSubmit }: Props) {
  const [action, setAction] = useState<'exclude' | 'include'>('exclude');
  const [reason, setReason] = useState('');
  /** The voters whose votes are deselected. */
  const [deselected, setDeselected] = useState<ReadonlySet<string>>(new Set());
  const votes = useQuery({
    queryKey: consoleKeys.votes(productId, hour),
    queryFn: ({ signal }) => call<VoteList>(CONSOLE_API.votes(productId), { query: { from: hour, to }, signal }),
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
        {description}. Excluded votes no longer count on the leaderboards, but the upvote button still counts them. The
        stored data does not identify networks, so this list may also contain votes from other networks in this hour.
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
