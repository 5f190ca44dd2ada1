import { type ReactNode, useRef } from 'react';
import type { Leaderboard, LeaderboardEntry } from '../../../contract/leaderboards/schema.ts';
import * as paths from '../../../contract/paths.ts';
import { formatCount, plural, rich, t, withElements } from '../../language/translate.ts';
import { focusAdded } from '../../ui/focus.ts';
import { Link, MoreLink } from '../../ui/link.tsx';
import { Picture } from '../../ui/picture.tsx';
import { RollingNumber } from '../../ui/rolling-number.tsx';
import { useNow } from '../../ui/time.tsx';
import { useAnimatedOrder } from './use-animated-order.ts';

interface BoardListProps {
  board: Leaderboard;
  /** Rows of all loaded pages. */
  entries: readonly LeaderboardEntry[];
  nextCursor: string | null;
  isBusy: boolean;
  /** Whether the last attempt to load more launches failed. */
  isFailed: boolean;
  onMore: () => Promise<unknown>;
  renderVote: (entry: LeaderboardEntry) => ReactNode;
}

export function BoardList({
  board,
  entries: latest,
  nextCursor,
  isBusy,
  isFailed,
  onMore,
  renderVote,
}: BoardListProps) {
  const list = useRef<HTMLOListElement>(null);
  const { entries, isHeld } = useAnimatedOrder(latest, list);

  return (
    <>
      <div className="board-held" role="status">
        {isHeld && <span>{t('The ranks update when you leave this row')}</span>}
      </div>
      <noscript>
        {typeof window === 'undefined' && <p className="needs-script">{t('Upvoting and saving need JavaScript.')}</p>}
      </noscript>
      <ol className="board-list" ref={list}>
        {entries.map((entry, index) => (
          <li key={entry.productId} data-product={entry.productId}>
            <BoardRow entry={entry} isFirst={index === 0} board={board} vote={renderVote(entry)} />
          </li>
        ))}
      </ol>
      {isFailed && !isBusy && (
        <p className="load-more-failed" role="alert">
          {t('More launches could not be loaded.')}
        </p>
      )}
      {nextCursor !== null && (
        <MoreLink
          className="button load-more"
          rel="next"
          href={paths.board(board.period, nextCursor)}
          isBusy={isBusy}
          onMore={() => void focusAdded('.board-row-name a', onMore)}
        >
          {t('Show more launches')}
        </MoreLink>
      )}
    </>
  );
}

interface BoardRowProps {
  entry: LeaderboardEntry;
  isFirst: boolean;
  board: Leaderboard;
  vote: ReactNode;
}

/**
 * A row of a board: a launch with its rank and its counted votes. Explains why their number differs from that on the
 * upvote button.
 */
function BoardRow({ entry, isFirst, board, vote }: BoardRowProps) {
  const { rank, tied, productId, name, image, votes } = entry;
  const now = useNow();
  // The server reports that the period is running, so a browser clock that is ahead must not count past the period's
  // end.
  const shownNow = board.nextPeriod === null ? Math.min(now, Date.parse(board.to)) : now;
  return (
    <article className="card board-row" data-rank={votes > 0 && rank <= 3 ? rank : undefined}>
      <p className="board-row-rank">
        <span className="visually-hidden">{`${t('Rank')} `}</span>
        {formatCount(rank)}
        {tied && <span className="board-row-tied">{t('tied')}</span>}
      </p>
      <Picture className="board-row-picture" src={image} alt="" name={name} width={56} height={56} priority={isFirst} />
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
          <UncountedVotes entry={entry} now={shownNow} />
          {board.status === 'open' && <TimeLeft end={entry.windowEndsAt} now={shownNow} />}
        </p>
      </div>
      <div className="board-row-vote">{vote}</div>
    </article>
  );
}

/** Explains why more or fewer votes count than the button shows. */
function UncountedVotes({ entry, now }: { entry: LeaderboardEntry; now: number }) {
  const { votes, excluded, upvotes, windowEndsAt } = entry;
  // While the window is open, only excluded votes are mentioned. Other uncounted votes will count within a second, or
  // were cast before the launch was moved to a later time. `Calculation` explains them.
  const isRunning = now < Date.parse(windowEndsAt);
  const outside = isRunning ? 0 : upvotes - votes - excluded;
  const parts = [
    ...(outside > 0 ? [`${t('Outside the first 24 hours')} − ${formatCount(outside)}`] : []),
    ...(outside < 0 ? [`${t('Withdrawn after the first 24 hours')} + ${formatCount(-outside)}`] : []),
    ...(excluded > 0 ? [plural('{count} excluded', '{count} excluded', excluded)] : []),
  ];
  return parts.length === 0 ? null : <span className="board-row-note">{parts.join(t(', '))}</span>;
}

/** The time until the launch stops collecting votes. */
function TimeLeft({ end, now }: { end: string; now: number }) {
  const minutes = Math.ceil((Date.parse(end) - now) / 60_000);
  if (minutes <= 0) return <span className="board-row-note">{t('window over')}</span>;
  const left =
    minutes >= 60
      ? plural('{count} hour left', '{count} hours left', Math.floor(minutes / 60))
      : plural('{count} minute left', '{count} minutes left', minutes);
  return <span className="board-row-note">{left}</span>;
}

/** Explains how the votes are counted, and how anyone can check the board. */
export function BoardResult({ board: { period, kind, digest } }: { board: Leaderboard }) {
  return (
    <section className="board-result" aria-labelledby="board-result-title">
      <h2 id="board-result-title">{t('How this is counted')}</h2>
      <p>
        {t(
          'A vote counts if it was cast within the 24 hours after its product’s launch and was not excluded. Equal counts share a rank; their order is drawn by SHA-256 and favours nobody.',
        )}
      </p>
      {kind === 'day' ? (
        <p>
          {rich('Every vote that was considered is in the {tally}, so anyone can recompute the ranks.', {
            tally: <a href={paths.api.tally(period)}>{t('open tally')}</a>,
          })}
        </p>
      ) : (
        <p>{t('Every day with launches has an open tally, so anyone can recompute the ranks.')}</p>
      )}
      {digest !== null && (
        <p className="board-digest">
          {`${t('SHA-256 of the final tally:')} `}
          <code dir="ltr">{digest.replace('sha256:', '')}</code>
        </p>
      )}
    </section>
  );
}
