import type { ReactNode } from 'react';
import type { LeaderboardEntry, LeaderboardStatus } from '../../../contract/leaderboards/schema.ts';
import { paths } from '../../../contract/paths.ts';
import { formatCount, plural, t, withElements } from '../../language/translate.ts';
import { Link } from '../../ui/link.tsx';
import { useNow } from '../../ui/now.tsx';
import { Picture } from '../../ui/picture.tsx';
import { RollingNumber } from '../../ui/rolling-number.tsx';

interface BoardRowProps {
  entry: LeaderboardEntry;
  status: LeaderboardStatus;
  vote: ReactNode;
}

/** A launch on a board: its rank, the counted votes, and why the number on the button differs. */
export function BoardRow({ entry, status, vote }: BoardRowProps) {
  const { rank, tied, productId, name, image, votes } = entry;
  return (
    <article className="card board-row" data-rank={votes > 0 && rank <= 3 ? rank : undefined}>
      <p className="board-row-rank">
        <span className="visually-hidden">{`${t('Rank')} `}</span>
        {formatCount(rank)}
        {tied && <span className="board-row-tied">{t('tied')}</span>}
      </p>
      <Picture
        className="board-row-picture"
        src={image}
        alt=""
        name={name}
        width={56}
        height={56}
        priority={rank === 1}
      />
      <div className="board-row-body">
        <h2 className="board-row-name">
          <Link to={paths.product(productId)} dir="auto">
            {name}
          </Link>
        </h2>
        <p className="board-row-votes">
          {withElements(plural('{number} vote counts', '{number} votes count', votes, { number: '{number}' }), {
            number: (
              <strong>
                <RollingNumber value={votes} />
              </strong>
            ),
          })}
          <UncountedVotes entry={entry} />
          {status === 'open' && <TimeLeft end={entry.windowEndsAt} />}
        </p>
      </div>
      <div className="board-row-vote">{vote}</div>
    </article>
  );
}

/** Why fewer votes count than the button shows. */
function UncountedVotes({ entry: { votes, excluded, upvotes, windowEndsAt } }: { entry: LeaderboardEntry }) {
  // In a running window, the others were cast a moment ago and are about to count.
  const isRunning = useNow() < Date.parse(windowEndsAt);
  const outside = isRunning ? 0 : upvotes - votes - excluded;
  const parts = [
    ...(excluded > 0 ? [plural('{count} excluded', '{count} excluded', excluded)] : []),
    ...(outside > 0 ? [plural('{count} outside the 24 hours', '{count} outside the 24 hours', outside)] : []),
  ];
  return parts.length === 0 ? null : <span className="board-row-note">{parts.join(t(', '))}</span>;
}

/** How long the launch still collects votes. */
function TimeLeft({ end }: { end: string }) {
  const minutes = Math.ceil((Date.parse(end) - useNow()) / 60_000);
  if (minutes <= 0) return <span className="board-row-note">{t('window over')}</span>;
  const left =
    minutes >= 60
      ? plural('{count} hour left', '{count} hours left', Math.floor(minutes / 60))
      : plural('{count} minute left', '{count} minutes left', minutes);
  return <span className="board-row-note">{left}</span>;
}
