import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { ConsoleComment } from '../../../contract/console/records.ts';
import { usePages } from '../../api/pages.ts';
import { setQuery, useConsoleLocation } from '../../location.ts';
import { FilterTag, Page, Segments } from '../../ui/page.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { Empty } from '../../ui/states.tsx';
import { CommentList } from './comment-list.tsx';

const STATES = [
  ['all', 'All'],
  ['public', 'Public'],
  ['held', 'Held'],
  ['hidden', 'Hidden'],
] as const;

export function CommentsScreen() {
  const { query } = useConsoleLocation();
  const text = query.get('q') ?? '';
  const state = STATES.find(([each]) => each === query.get('state'))?.[0] ?? 'all';
  const product = query.get('product') ?? undefined;
  const pages = usePages<ConsoleComment>('comments', CONSOLE_API.comments, { text: text || undefined, state, product });
  const isNarrowed = text !== '' || state !== 'all' || product !== undefined;

  return (
    <Page
      title="Comments"
      toolbar={
        <>
          <SearchField label="Search comments" value={text} onChange={(q) => setQuery({ q })} />
          <Segments
            label="State"
            value={state}
            options={STATES}
            onChange={(next) => setQuery({ state: next === 'all' ? undefined : next })}
          />
          {product && <FilterTag parameter="product" value={product} effect="show comments on all products" />}
        </>
      }
    >
      <CommentList
        label="Comments"
        pages={pages}
        empty={
          <Empty title={isNarrowed ? 'No comment matches' : 'No comments yet'}>
            <p>{isNarrowed ? 'Try another word or state.' : 'New comments appear here at once.'}</p>
          </Empty>
        }
      />
    </Page>
  );
}
