import { useLayoutEffect } from 'react';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { ConsoleComment } from '../../../contract/console/records.ts';
import { formatWaiting, useWaiting } from '../../api/console-api.ts';
import { usePages } from '../../api/pages.ts';
import { setQuery, useConsoleLocation } from '../../location.ts';
import { Page, Segments } from '../../ui/page.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { CommentList } from '../comments/comments-screen.tsx';
import { BurstList } from './burst-list.tsx';
import { SubmissionList } from './submission-list.tsx';

const KINDS = ['submissions', 'comments', 'bursts'] as const;
type Kind = (typeof KINDS)[number];

/** The queue of items that need an operator's decision. */
export function QueueScreen() {
  const { query } = useConsoleLocation();
  const { data: waiting, isPending } = useWaiting();
  const counts: Record<Kind, number> = {
    submissions: waiting?.submissions ?? 0,
    comments: waiting?.heldComments ?? 0,
    bursts: waiting?.bursts ?? 0,
  };
  const kind = KINDS.find((each) => each === query.get('kind'));
  const first = KINDS.find((each) => counts[each] > 0) ?? 'submissions';
  const labels: Record<Kind, string> = { submissions: 'Submissions', comments: 'Held comments', bursts: 'Vote bursts' };

  // Stores the initial kind in the URL. Otherwise, new items of another kind could replace the list while the operator
  // reads it.
  useLayoutEffect(() => {
    if (kind === undefined && !isPending) setQuery({ kind: first });
  }, [kind, isPending, first]);

  return (
    <Page
      title="Queue"
      toolbar={
        kind && (
          <Segments
            label="Kind"
            value={kind}
            options={KINDS.map(
              (each) => [each, <Counted key={each} label={labels[each]} count={waiting && counts[each]} />] as const,
            )}
            onChange={(next) => setQuery({ kind: next })}
          />
        )
      }
    >
      {kind === undefined && <Loading label="Loading the queue" />}
      {kind === 'submissions' && <SubmissionList />}
      {kind === 'comments' && <HeldComments />}
      {kind === 'bursts' && <BurstList />}
    </Page>
  );
}

/** A label with a count of up to three digits. Its width does not change when the count has loaded. */
function Counted({ label, count }: { label: string; count: number | undefined }) {
  return (
    <>
      {label} <span className="segment-count">{count === undefined ? '' : formatWaiting(count)}</span>
    </>
  );
}

function HeldComments() {
  const pages = usePages<ConsoleComment>('comments', CONSOLE_API.comments, { state: 'held' });
  return (
    <CommentList
      label="Held comments"
      pages={pages}
      empty={
        <Empty title="No comment is held">
          <p>Comments that look like spam, or that an operator held, wait here until you release or hide them.</p>
        </Empty>
      }
    />
  );
}
