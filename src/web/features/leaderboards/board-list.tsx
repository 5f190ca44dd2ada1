import { type MouseEvent, type ReactNode, useRef } from 'react';
import type { Leaderboard, LeaderboardEntry } from '../../../contract/leaderboards/schema.ts';
import { paths } from '../../../contract/paths.ts';
import { localAddress, t } from '../../language/translate.ts';
import { focusAdded } from '../../ui/focus.ts';
import { BoardRow } from './board-row.tsx';
import { boardHref } from './queries.ts';
import { useRace } from './use-race.ts';

interface BoardListProps {
  board: Leaderboard;
  /** Rows of all loaded pages. */
  entries: readonly LeaderboardEntry[];
  nextCursor: string | null;
  isBusy: boolean;
  onMore: () => Promise<unknown>;
  renderVote: (entry: LeaderboardEntry) => ReactNode;
}

export function BoardList({ board, entries: latest, nextCursor, isBusy, onMore, renderVote }: BoardListProps) {
  const list = useRef<HTMLOListElement>(null);
  const { entries, isHeld } = useRace(latest, list);

  function loadMore(event: MouseEvent): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    if (!isBusy) void focusAdded('.board-row-name a', onMore);
  }

  return (
    <>
      <div className="board-held" role="status">
        {isHeld && <span>{t('New ranks wait until you leave this row')}</span>}
      </div>
      <ol className="board-list" ref={list}>
        {entries.map((entry) => (
          <li key={entry.productId} data-product={entry.productId}>
            <BoardRow entry={entry} status={board.status} vote={renderVote(entry)} />
          </li>
        ))}
      </ol>
      {nextCursor !== null && (
        <a
          className="button load-more"
          data-tone="outline"
          rel="next"
          href={localAddress(boardHref(paths.board(board.period), nextCursor))}
          aria-disabled={isBusy}
          onClick={loadMore}
        >
          {t('Show more launches')}
        </a>
      )}
    </>
  );
}
