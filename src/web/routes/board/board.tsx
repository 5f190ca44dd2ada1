import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo } from 'react';
import { type Period, parsePeriod } from '../../../contract/leaderboards/period.ts';
import * as paths from '../../../contract/paths.ts';
import { useApi } from '../../api/api-context.tsx';
import { flattenPages } from '../../cache/cached-data.ts';
import { BoardList, BoardResult } from '../../features/leaderboards/board-list.tsx';
import { AdjacentPeriods, PeriodTabs } from '../../features/leaderboards/board-periods.tsx';
import { type BoardSummary, expectedBoard, stageOf, WindowClock } from '../../features/leaderboards/board-stage.tsx';
import { BoardEmpty, BoardFailure, BoardLoading, BoardMissing } from '../../features/leaderboards/board-states.tsx';
import { boardOptions } from '../../features/leaderboards/queries.ts';
import { LiveUpdatesSlot } from '../../features/live/live-updates-slot.tsx';
import { UpvoteButton } from '../../features/upvotes/upvote-button.tsx';
import { formatPeriod } from '../../language/format.ts';
import { plural, t } from '../../language/translate.ts';
import { type PageHead, useDocumentHead, useSite } from '../../routing/document-head.ts';
import { useLastList, useRetryOnMount } from '../../routing/navigation.tsx';
import { useSearchParams } from '../../routing/router.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { useNow } from '../../ui/time.tsx';
import { Waves } from '../../ui/waves.tsx';

const describeDay = (period: string) =>
  t('The products launched on {period}, ranked by the votes in their first 24 hours. Anyone can recompute the ranks.', {
    period,
  });
const describePeriod = (period: string) =>
  t('The products launched in {period}, ranked by the votes in their first 24 hours. Anyone can recompute the ranks.', {
    period,
  });

export function boardTitle(period: Period): string {
  return t('Launches of {period}', { period: formatPeriod(period) });
}

/**
 * Returns the document head of a leaderboard. Boards without launches are not indexed. Later pages of a board have the
 * canonical URL of its first page.
 */
export function boardHead(period: Period, siteName: string, { empty = false } = {}): PageHead {
  const head = {
    title: `${boardTitle(period)} · ${siteName}`,
    description: (period.kind === 'day' ? describeDay : describePeriod)(formatPeriod(period)),
  };
  return empty ? { ...head, noindex: true } : { ...head, canonical: paths.board(period.name) };
}

export function BoardScreen() {
  const params = useSearchParams();
  const period = parsePeriod(params.get('board') ?? '');
  return period ? (
    <BoardPage key={period.name} period={period} cursor={params.get('cursor') ?? ''} />
  ) : (
    <BoardMissing />
  );
}

function BoardPage({ period, cursor }: { period: Period; cursor: string }) {
  const lastList = useLastList();
  useEffect(() => {
    // A leaderboard is not a list of products, so 'Back to products' leads to the home page.
    lastList.current = null;
  }, [lastList]);
  const { data, isPending, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, refetch } =
    useInfiniteQuery({
      ...boardOptions(useApi(), period.name, cursor),
      ...useRetryOnMount(),
    });
  const entries = useMemo(() => flattenPages(data?.pages ?? [], ({ productId }) => productId), [data]);
  const onEnd = useCallback(() => void refetch({ cancelRefetch: false }), [refetch]);
  const board = data?.pages.at(-1);
  const expected = expectedBoard(period, useNow());
  // Checks both properties, because a past board also has no next period if all later products were removed.
  const isRunning = board?.status === 'open' && board.nextPeriod === null;

  if (data && !board) return <BoardMissing />;
  return (
    <>
      <BoardBanner
        period={period}
        board={board ?? expected}
        isExpected={!board}
        isEmpty={data?.pages[0]?.items.length === 0}
        onEnd={onEnd}
      />
      <div className="board-page">
        <div className="board-bar" data-expected={!board}>
          <PeriodTabs period={period} isRunning={isRunning} />
          <AdjacentPeriods board={board ?? expected} />
        </div>
        <LiveUpdatesSlot />
        {isPending && <BoardLoading />}
        {!isPending && !board && <BoardFailure />}
        {board && entries.length === 0 && <BoardEmpty isRunning={isRunning} />}
        {board && entries.length > 0 && (
          <BoardList
            board={board}
            entries={entries}
            nextCursor={hasNextPage ? board.nextCursor : null}
            isBusy={isFetchingNextPage}
            isFailed={isFetchNextPageError}
            onMore={fetchNextPage}
            renderVote={({ productId, name, upvotes }) => (
              <UpvoteButton productId={productId} productName={name} upvotes={upvotes} />
            )}
          />
        )}
        {board && <BoardResult board={board} />}
      </div>
    </>
  );
}

interface BoardBannerProps {
  period: Period;
  board: BoardSummary;
  /**
   * Whether no board has been loaded yet. If true, `board` is an estimate that stays invisible and only reserves space.
   */
  isExpected: boolean;
  /** Whether the first loaded page has no launches. */
  isEmpty: boolean;
  onEnd: () => void;
}

/** The title of the board, its status and the remaining time. Also sets the title of the document. */
function BoardBanner({ period, board, isExpected, isEmpty, onEnd }: BoardBannerProps) {
  const { name, timeZone } = useSite();
  useDocumentHead(boardHead(period, name, { empty: isEmpty }));
  const stage = stageOf(board, timeZone);
  return (
    <section className="banner board-banner" data-expected={isExpected} aria-label={t('Leaderboard')}>
      <Waves />
      <div>
        <PageHeading>{boardTitle(period)}</PageHeading>
        <p>
          <strong className="board-stage" data-status={board.status}>
            {t(stage.label)}
          </strong>{' '}
          {plural('{count} launch.', '{count} launches.', board.launches)} {stage.words}
        </p>
      </div>
      {stage.clock && <WindowClock key={stage.clock.end} {...stage.clock} onEnd={onEnd} />}
    </section>
  );
}
