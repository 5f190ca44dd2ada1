import type { ReactNode } from 'react';
import type { ExclusionReason, Standing } from '../../../contract/leaderboards/schema.ts';
import { moderationLog } from '../../../contract/paths/moderation-log.ts';
import * as paths from '../../../contract/paths.ts';
import type { PlainMessage } from '../../language/catalogue.ts';
import { formatInstant } from '../../language/format.ts';
import { formatCount, localAddress, plural, t } from '../../language/translate.ts';
import { useSite } from '../../routing/document-head.ts';
import { Link } from '../../ui/link.tsx';
import { useNow } from '../../ui/time.tsx';

interface Reason {
  label: PlainMessage;
  why: (votesPerNetwork: number, hasModerationLog: boolean) => ReactNode;
}

const REASONS: Record<ExclusionReason, Reason> = {
  network: {
    label: 'Too many from one network',
    why: (most) =>
      plural(
        'At most {count} vote from one network counts for a launch. The rest show on the button.',
        'At most {count} votes from one network count for a launch. The rest show on the button.',
        most,
      ),
  },
  operator: {
    label: 'Excluded by the operator',
    why: (_, hasModerationLog) => (
      <>
        {t('The tally shows which votes were excluded.')}{' '}
        {hasModerationLog && <a href={localAddress(moderationLog())}>{t('The moderation log gives the reason.')}</a>}
      </>
    ),
  },
};

/** Shows how the number of counted votes results from the number on the button, and the rank from the counted votes. */
export function Calculation({ standing }: { standing: Standing }) {
  const { votes, upvotes, excluded, votesPerNetwork, windowEndsAt } = standing;
  // After the window, this is the number of votes cast outside it minus the number of counted votes that were withdrawn
  // later. Only the difference is known.
  const outside = upvotes - votes - excluded.reduce((sum, { votes: count }) => sum + count, 0);
  const { timeZone, hasModerationLog = false } = useSite();
  const ends = formatInstant(windowEndsAt, timeZone);
  const isRunning = useNow() < Date.parse(windowEndsAt);
  return (
    <>
      <p className="why-answer">{explanationOf(standing, isRunning)}</p>
      <dl className="why-sum">
        <Line label="On the button" amount={formatCount(upvotes)} />
        {outside !== 0 && (
          <Line
            label={
              isRunning
                ? 'Before the launch, or a moment ago'
                : outside > 0
                  ? 'Outside the first 24 hours'
                  : 'Withdrawn after the first 24 hours'
            }
            amount={`${outside > 0 ? '−' : '+'} ${formatCount(Math.abs(outside))}`}
          >
            {isRunning
              ? t('Votes cast before the launch do not count. New votes appear on the leaderboard within a second.')
              : t(
                  'The window ended on {ends}. Votes cast before or after it do not count; votes withdrawn after it still do.',
                  { ends },
                )}
          </Line>
        )}
        {excluded.map(({ reason, votes: count }) => (
          <Line key={reason} label={REASONS[reason].label} amount={`− ${formatCount(count)}`}>
            {REASONS[reason].why(votesPerNetwork, hasModerationLog)}
          </Line>
        ))}
        <Line label="Counted votes" amount={formatCount(votes)} isTotal>
          {isRunning ? t('Votes until {ends} count.', { ends }) : undefined}
        </Line>
      </dl>
      <Neighbours standing={standing} />
    </>
  );
}

/**
 * Explains the rank in words, e.g. '20 of its 27 upvotes count, and 1 launch has more.' After the window, some of the
 * counted votes may have been withdrawn, so they are not described as a part of the upvotes.
 */
function explanationOf({ votes, upvotes, rank, tied }: Standing, isRunning: boolean): string {
  const counted =
    isRunning && votes < upvotes
      ? plural('{count} of its {upvotes} upvotes counts', '{count} of its {upvotes} upvotes count', votes, { upvotes })
      : plural('{count} vote counts', '{count} votes count', votes);
  const explanation =
    rank === 1
      ? t('{counted}, and no launch has more.', { counted })
      : plural('{counted}, and {count} launch has more.', '{counted}, and {count} launches have more.', rank - 1, {
          counted,
        });
  return tied ? `${explanation} ${t('The rank is shared.')}` : explanation;
}

interface LineProps {
  label: PlainMessage;
  amount: string;
  isTotal?: boolean;
  children?: ReactNode;
}

function Line({ label, amount, isTotal = false, children }: LineProps) {
  return (
    <div data-total={isTotal}>
      <dt>{t(label)}</dt>
      <dd className="why-amount">{amount}</dd>
      {children && <dd className="why-reason">{children}</dd>}
    </div>
  );
}

/** The launches directly above and below on the board, with the differences in votes that explain the rank. */
function Neighbours({ standing: { above, below, votes, tied } }: { standing: Standing }) {
  if (!above && !below) return null;
  return (
    <>
      <ol className="why-neighbours" aria-label={t('Neighbours on the leaderboard')}>
        {above && <Neighbour {...above} difference={above.votes - votes} />}
        <li data-own="true">
          <span>{t('This launch')}</span>
          <span className="why-amount">{plural('{count} vote', '{count} votes', votes)}</span>
        </li>
        {below && <Neighbour {...below} difference={below.votes - votes} />}
      </ol>
      {tied && (
        <p className="why-reason">
          {t(
            'Equal counts share a rank. Their order on the leaderboard comes from SHA-256 of the period and the product’s id: the same for everyone, nobody’s advantage.',
          )}
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
    difference === 0
      ? t('as many')
      : difference > 0
        ? plural('{count} more', '{count} more', difference)
        : plural('{count} fewer', '{count} fewer', -difference);
  return (
    <li>
      <Link to={paths.product(productId)} dir="auto">
        {name}
      </Link>
      <span className="why-amount">
        {plural('{count} vote', '{count} votes', votes)} <span className="why-compared">({compared})</span>
      </span>
    </li>
  );
}
