import * as paths from '../../../contract/paths.ts';
import { t } from '../../language/translate.ts';
import { unlistedHead, useDocumentHead, useSite } from '../../routing/document-head.ts';
import { FailureNotice, Notice, NoticeLink } from '../../ui/notice.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { SkeletonBox, SkeletonLine } from '../../ui/skeleton.tsx';

const SKELETONS = 6;

export function BoardLoading() {
  return (
    <div className="board-list">
      <p className="list-loading" role="status">
        {t('Loading launches...')}
      </p>
      {Array.from({ length: SKELETONS }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: placeholders are all alike and never move
        <div key={index} className="card board-row" aria-hidden="true">
          <span className="board-row-rank" />
          <SkeletonBox className="board-row-picture" />
          <div className="board-row-body">
            <SkeletonLine width="short" />
            <SkeletonLine width="medium" />
          </div>
        </div>
      ))}
    </div>
  );
}

export function BoardFailure() {
  return (
    <FailureNotice
      title={
        <p className="notice-title" role="alert">
          {t('Failed to load the leaderboard')}
        </p>
      }
    />
  );
}

export function BoardEmpty({ isRunning }: { isRunning: boolean }) {
  return (
    <Notice>
      <p className="notice-title">{isRunning ? t('No launches yet') : t('A calm sea')}</p>
      <p>
        {isRunning
          ? t('The first wave is still on its way, and its place is free.')
          : t('No launches are on this board. The boards before and after may have more to show.')}
      </p>
      <NoticeLink to={paths.home}>{t('Show all products')}</NoticeLink>
    </Notice>
  );
}

export function BoardMissing() {
  useDocumentHead(unlistedHead('No leaderboard', useSite()));
  return (
    <Notice tone="lost">
      <PageHeading className="notice-title">{t('There is no leaderboard for this period')}</PageHeading>
      <p>{t('The period is before the first launch, or in the future.')}</p>
      <NoticeLink to={paths.home}>{t('Show all products')}</NoticeLink>
    </Notice>
  );
}
