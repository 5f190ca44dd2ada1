import type { ReactNode } from 'react';
import type { ExclusionReason, Standing } from '../../../contract/leaderboards/schema.ts';
import { instantInWords } from '../../../contract/leaderboards/words.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { paths } from '../../../contract/paths.ts';
import { useSite } from '../../routing/document-head.ts';
import { formatAmount, formatCount } from '../../ui/format-count.ts';
import { Link } from '../../ui/link.tsx';
import { useNow } from '../../ui/now.tsx';

const REASONS: Record<ExclusionReason, { label: string; why: (votesPerNetwork: number) => string }> = {
  network: {
    label: 'Too many from one network',
    why: (most) =>
      `At most ${formatAmount(most, 'vote')} of one network count for a launch. The rest show on the button.`,
  },
  operator: {
    label: 'Excluded by the operator',
    why: () => 'The operator gave a reason, and the tally shows which votes they are.',
  },
};

/** From the votes on the button to the counted ones, and on to the rank. */
export function Calculation({ standing }: { standing: Standing }) {
  const { votes, upvotes, excluded, windowEndsAt } = standing;
  const outside = upvotes - votes - excluded.reduce((sum, { votes: count }) => sum + count, 0);
  const { timeZone, votesPerNetwork = LIMITS.votesPerNetwork } = useSite();
  const ends = instantInWords(windowEndsAt, timeZone);
  const isRunning = useNow() < Date.parse(windowEndsAt);
  return (
    <>
      <p className="why-answer">{answerOf(standing)}</p>
      <dl className="why-sum">
        <Line label="On the button" amount={formatCount(upvotes)} />
        {outside > 0 && isRunning && (
          <Line label="Not counted yet" amount={`− ${formatCount(outside)}`}>
            The leaderboard takes in new votes within a second.
          </Line>
        )}
        {outside > 0 && !isRunning && (
          <Line label="Cast after the first 24 hours" amount={`− ${formatCount(outside)}`}>
            The voting window of every launch lasts 24 hours. This one ended on {ends}.
          </Line>
        )}
        {outside < 0 && (
          <Line label="Taken back later" amount={`+ ${formatCount(-outside)}`}>
            They were there when the window ended, on {ends}, so they count.
          </Line>
        )}
        {excluded.map(({ reason, votes: count }) => (
          <Line key={reason} label={REASONS[reason].label} amount={`− ${formatCount(count)}`}>
            {REASONS[reason].why(votesPerNetwork)}
          </Line>
        ))}
        <Line label="Votes that count" amount={formatCount(votes)} isTotal>
          {isRunning ? `Votes until ${ends} count.` : undefined}
        </Line>
      </dl>
      <Neighbours standing={standing} />
    </>
  );
}

/** Why this rank, in one sentence: '20 of its 27 upvotes count, and 1 launch has more.' */
function answerOf({ votes, upvotes, rank, tied }: Standing): string {
  const counted =
    votes < upvotes ? `${formatCount(votes)} of its ${formatAmount(upvotes, 'upvote')}` : formatAmount(votes, 'vote');
  const more = rank === 1 ? 'no launch has' : rank === 2 ? '1 launch has' : `${formatCount(rank - 1)} launches have`;
  return `${counted} ${votes === 1 && upvotes === 1 ? 'counts' : 'count'}, and ${more} more.${tied ? ' Another launch has as many.' : ''}`;
}

interface LineProps {
  label: string;
  amount: string;
  isTotal?: boolean;
  children?: ReactNode;
}

function Line({ label, amount, isTotal = false, children }: LineProps) {
  return (
    <div data-total={isTotal}>
      <dt>{label}</dt>
      <dd className="why-amount">{amount}</dd>
      {children && <dd className="why-reason">{children}</dd>}
    </div>
  );
}

/** The launches right above and below, whose votes decide the rank. */
function Neighbours({ standing: { above, below, votes, tied } }: { standing: Standing }) {
  if (!above && !below) return null;
  return (
    <>
      <ol className="why-neighbours" aria-label="Neighbours on the leaderboard">
        {above && <Neighbour {...above} difference={above.votes - votes} />}
        <li data-own="true">
          <span>This launch</span>
          <span className="why-amount">{formatAmount(votes, 'vote')}</span>
        </li>
        {below && <Neighbour {...below} difference={below.votes - votes} />}
      </ol>
      {tied && (
        <p className="why-reason">
          Equal counts share a rank. Their order on the leaderboard comes from SHA-256 of the period and the product’s
          id: the same for everyone, nobody’s advantage.
        </p>
      )}
    </>
  );
}

interface NeighbourProps {
  productId: string;
  name: string;
  votes: number;
  difference: number;
}

function Neighbour({ productId, name, votes, difference }: NeighbourProps) {
  const compared =
    difference === 0 ? 'as many' : `${formatCount(Math.abs(difference))} ${difference > 0 ? 'more' : 'fewer'}`;
  return (
    <li>
      <Link to={paths.product(productId)} dir="auto">
        {name}
      </Link>
      <span className="why-amount">
        {formatAmount(votes, 'vote')} <span className="why-compared">({compared})</span>
      </span>
    </li>
  );
}
