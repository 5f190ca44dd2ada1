import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type MouseEvent, type ReactNode, useState } from 'react';
import * as paths from '../../../contract/paths.ts';
import { useApi } from '../../api/api-context.tsx';
import { productKeys } from '../../cache/cached-data.ts';
import { commentedProducts, ownComments } from '../../features/comments/queries.ts';
import { StandingWords } from '../../features/leaderboards/standing.tsx';
import { productListOptions } from '../../features/products/queries.ts';
import { rememberedVotes } from '../../features/upvotes/queries.ts';
import { readVisitNews, type VisitNews } from '../../features/visits/visit-news.ts';
import { lastVisitEnd, visits } from '../../features/visits/visits.tsx';
import { plural, t } from '../../language/translate.ts';
import { useBrowserStore } from '../../storage/browser-store.ts';
import { setVisitPanel, useVisitPanel } from '../../storage/visit-panel.ts';
import { closeOnNavigation, Modal, ProductRow } from '../../ui/modal.tsx';
import { TimeAgo } from '../../ui/time.tsx';

/**
 * A button over the waves of the banner, where it causes no layout shift. It appears only if there is news since the
 * last visit.
 */
export function SinceLastVisit() {
  const news = useVisitNews();
  const [isOpen, setOpen] = useState(false);
  const isOn = useVisitPanel();
  if (!isOn || !news || Object.values(news).every(({ length }) => length === 0)) return null;
  return (
    <>
      <button type="button" className="visit-news" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {t('Since your last visit')}
      </button>
      {isOpen && <NewsDialog news={news} onClose={() => setOpen(false)} />}
    </>
  );
}

/** The maximum wait for an idle callback. A browser that renders continuously may never be idle. */
const MAX_IDLE_WAIT_MS = 1_000;

/** The maximum age of a cached list that is used without another request. */
const RECENT_MS = 60_000;

/** Runs `callback` when the browser is idle, or after the maximum wait. Safari lacks `requestIdleCallback`. */
function whenIdle(callback: () => void): void {
  if (window.requestIdleCallback) window.requestIdleCallback(callback, { timeout: MAX_IDLE_WAIT_MS });
  else setTimeout(callback);
}

/**
 * Reads the news since the last visit when the browser is idle. The result never becomes stale, so it is read only
 * once.
 */
function useVisitNews(): VisitNews | undefined {
  const api = useApi();
  const client = useQueryClient();
  const since = useBrowserStore(visits, lastVisitEnd);
  const isOn = useVisitPanel();
  const { data } = useQuery({
    queryKey: productKeys.visitNews(since),
    async queryFn({ signal }) {
      await new Promise<void>(whenIdle);
      const list = client.getQueryState(productListOptions(api, {}).queryKey);
      // The tab may have been hidden for hours, during which its list was not updated.
      const isRecent = list !== undefined && Date.now() - list.dataUpdatedAt < RECENT_MS;
      const known = isRecent ? list.data?.pages[0] : undefined;
      return readVisitNews(
        { ...api, listProducts: async (query) => known ?? api.listProducts(query, signal) },
        {
          upvoted: rememberedVotes.read().filter((id) => typeof id === 'string'),
          commentedOn: commentedProducts.read(),
          ownComments: ownComments.read(),
        },
        { since: since ?? Number.POSITIVE_INFINITY, now: Date.now(), signal },
      );
    },
    enabled: isOn && since !== null && navigator.onLine,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
  return data;
}

function NewsDialog({ news: { launched, ended, commented }, onClose }: { news: VisitNews; onClose: () => void }) {
  function closeForGood(event: MouseEvent): void {
    event.currentTarget.closest('dialog')?.close();
    setVisitPanel(false);
    // The button that opened the dialog disappears, so the heading of the list gets the focus.
    document.getElementById('list-title')?.focus({ preventScroll: true });
  }

  return (
    <Modal title={t('Since your last visit')} onClose={onClose}>
      <p className="saved-note">{t('Based on what this browser remembers.')}</p>
      <NewsList title={t('New products')}>
        {launched.map((product) => (
          <ProductRow
            key={product.id}
            product={product}
            to={paths.product(product.id)}
            state={<TimeAgo time={product.createdAt} />}
          />
        ))}
      </NewsList>
      <NewsList title={t('You upvoted')}>
        {ended.map(({ product, standing }) => (
          <ProductRow
            key={product.id}
            product={product}
            to={paths.product(product.id)}
            state={<StandingWords standing={standing} />}
          />
        ))}
      </NewsList>
      <NewsList title={t('You commented')}>
        {commented.map(({ product, comments, hasMore }) => (
          <ProductRow
            key={product.id}
            product={product}
            to={`${paths.product(product.id)}#comments`}
            state={
              hasMore
                ? t('{count}+ new comments', { count: comments })
                : plural('{count} new comment', '{count} new comments', comments)
            }
          />
        ))}
      </NewsList>
      <button type="button" className="text-button visit-news-off" onClick={closeForGood}>
        {t('Don’t show this again')}
      </button>
    </Modal>
  );
}

function NewsList({ title, children }: { title: string; children: ReactNode[] }) {
  if (children.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3 className="visit-news-title">{title}</h3>
      <ul className="saved-list" onClickCapture={closeOnNavigation}>
        {children}
      </ul>
    </section>
  );
}
