import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { hasUnfinishedWrite, PENDING_WRITE_KEY } from '../../api/http-api.ts';
import { productKeys, upvoteKeys } from '../../cache/cached-data.ts';
import { copyPressedLinks } from '../../features/comments/show-comment.ts';
import { useToday } from '../../features/leaderboards/use-today.ts';
import { LiveUpdates } from '../../features/live/live-updates.tsx';
import { watchVotes } from '../../features/upvotes/set-upvote.ts';
import { visits, visitsAt } from '../../features/visits/visits.tsx';
import { useLocation, useRouter } from '../../routing/router.tsx';
import { allowTranslation } from '../../ui/translated-text.ts';
import { OfflineNote } from '../offline/offline-note.tsx';

/** Features that are not essential. Their code loads after the page itself. */
export const DEFERRED = { LiveUpdates, DeferredFeatures };

function DeferredFeatures() {
  const api = useApi();
  const client = useQueryClient();
  useEffect(() => watchVotes(api, client), [api, client]);
  useEffect(() => {
    recheckVotes(client);
    const onPageShow = ({ persisted }: PageTransitionEvent) => persisted && recheckVotes(client);
    window.addEventListener('pageshow', onPageShow);
    return () => window.removeEventListener('pageshow', onPageShow);
  }, [client]);
  useEffect(allowTranslation, []);
  useEffect(watchVisit, []);
  useEffect(copyPressedLinks, []);
  useEffect(followTheme, []);
  useTodayInFooter();
  useReturnFocus();
  useMissingProducts();
  return <OfflineNote />;
}

const RECORD_INTERVAL_MS = 60_000;

/** Records activity periodically while the page is visible. Returns a function that stops the recording. */
function watchVisit(): () => void {
  const recordVisit = () => {
    if (document.visibilityState === 'visible') visits.write(visitsAt(visits.read(), Date.now()));
  };
  recordVisit();
  const timer = setInterval(recordVisit, RECORD_INTERVAL_MS);
  document.addEventListener('visibilitychange', recordVisit);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', recordVisit);
  };
}

/** The delays after which votes and products are refetched if the previous page left a write pending. */
const RECHECKS_MS = [1_500, 6_000, 20_000, 40_000];

/**
 * If the visitor left another page of this tab while a write was pending, refetches the visitor's votes and the product
 * later, because a slow write may reach the server after this page's first requests.
 */
function recheckVotes(client: QueryClient): void {
  if (!hasUnfinishedWrite()) return;
  window.sessionStorage.removeItem(PENDING_WRITE_KEY);
  for (const ms of RECHECKS_MS) {
    setTimeout(() => {
      for (const queryKey of [upvoteKeys.statuses, productKeys.details]) void client.invalidateQueries({ queryKey });
    }, ms);
  }
}

/**
 * Adopts the theme that another tab selects, also when this page returns from the back/forward cache. The storage key
 * is the same as in ui/theme.tsx. A test compares them.
 */
function followTheme(): () => void {
  const stopped = new AbortController();
  const follow = () => {
    try {
      const stored = localStorage.getItem('theme');
      const isDark = stored ? stored === 'dark' : window.matchMedia('(prefers-color-scheme: dark)').matches;
      const toggle = document.querySelector<HTMLElement>('.theme-switch');
      if (toggle?.getAttribute('aria-pressed') !== String(isDark)) toggle?.click();
    } catch {
      // Without storage, every tab has its own theme.
    }
  };
  follow();
  window.addEventListener('storage', ({ key }) => key === 'theme' && follow(), stopped);
  window.addEventListener('pageshow', ({ persisted }) => persisted && follow(), stopped);
  return () => stopped.abort();
}

/** Updates the link to today's board in the footer, which is outside the app. */
function useTodayInFooter(): void {
  const today = useToday();
  useEffect(() => {
    const link = document.querySelector<HTMLAnchorElement>('.site-links [href*="board="]');
    if (link) link.href = link.href.replace(/\d{4}-\d\d-\d\d/, today);
  }, [today]);
}

/**
 * When the visitor returns to a page, moves the focus from the heading to the link that last had the focus on that
 * page, which is usually the link that the visitor followed.
 */
function useReturnFocus(): void {
  const { location, type } = useRouter();
  const { key, state } = location;
  /** The URL of the link that last had the focus, by history entry. */
  const links = useRef(new Map<string, string>());

  useEffect(() => {
    const recordFocus = ({ target }: FocusEvent) => {
      const left = target instanceof HTMLAnchorElement && target.getAttribute('href');
      if (left) links.current.set(key, left);
    };
    document.addEventListener('focusin', recordFocus);

    const returnTo = type === 'POP' ? key : ((state as { returnTo?: string } | null)?.returnTo ?? '');
    const href = links.current.get(returnTo);
    const link = href && document.querySelector<HTMLElement>(`main a[href="${CSS.escape(href)}"]`);
    if (link && document.activeElement instanceof HTMLHeadingElement) link.focus({ preventScroll: true });
    return () => document.removeEventListener('focusin', recordFocus);
  }, [key, state, type]);
}

/**
 * Deletes the cached results of products that were not found once the visitor leaves their pages, because such products
 * may launch or be restored. Otherwise, a link in the list could lead to 'Product not found' for five minutes.
 */
function useMissingProducts(): void {
  const client = useQueryClient();
  const { key } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each navigation may leave the page of such a product
  useEffect(() => {
    const predicate = ({ state }: Query) => state.data === null;
    client.removeQueries({ queryKey: productKeys.details, type: 'inactive', predicate });
  }, [client, key]);
}
