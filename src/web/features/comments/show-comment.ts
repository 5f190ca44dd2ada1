import { InfiniteQueryObserver, type QueryClient } from '@tanstack/react-query';
import type { Api } from '../../../contract/api.ts';
import { DEFAULT_COMMENT_SORT } from '../../../contract/comments/defaults.ts';
import { matchRoute } from '../../../contract/routes.ts';
import { commentElementId, flattenComments } from '../../cache/cached-data.ts';
import { t } from '../../language/translate.ts';
import { findRendered, isTyping, scrollBehavior } from '../../ui/focus.ts';
import { showToast } from '../../ui/toasts.ts';
import { commentListOptions, commentOrder } from './queries.ts';

/** The maximum number of further pages that are loaded to find a comment. */
const MAX_PAGES = 20;

/**
 * Scrolls to the comment that the fragment (`hash`) identifies, focuses it and highlights it. Loads further pages to
 * find it. If it is not found, scrolls to the title of the discussion and focuses that. If the visitor is typing by
 * then, nothing moves.
 */
export async function showComment(api: Api, client: QueryClient, hash: string): Promise<void> {
  const route = matchRoute(window.location.pathname);
  if (route.name !== 'product') return;
  const params = new URLSearchParams(window.location.search);
  const order = commentOrder(DEFAULT_COMMENT_SORT, params.get('comments'));
  const list = new InfiniteQueryObserver(client, commentListOptions(api, route.id, order));
  const find = () => document.getElementById(hash.slice(1));
  const path = window.location.pathname;
  const hasLeft = () => window.location.pathname !== path;
  let isLoaded = false;
  for (let page = 0; page < MAX_PAGES && !isLoaded && !find() && !hasLeft(); page += 1) {
    const { data, hasNextPage, isError } = await list.fetchNextPage();
    isLoaded = flattenComments(data).some(({ id }) => hash === `#${commentElementId(id)}`);
    if (!hasNextPage || isError) break;
  }
  const element = isLoaded ? await findRendered(find) : find();
  if (hasLeft() || isTyping()) return;
  const target = element ?? document.getElementById('comments-title');
  if (!target) return;
  target.tabIndex = -1;
  target.scrollIntoView({ behavior: scrollBehavior(), block: 'center' });
  target.focus({ preventScroll: true });
  if (element) element.dataset.highlighted = 'true';
}

/**
 * Copies the URL of a comment when its link is clicked. On plain http, where browsers offer no clipboard, the address
 * bar still shows the URL. Returns a function that removes the listener.
 */
export function copyPressedLinks(): () => void {
  const copy = ({ target }: Event) => {
    const link = target instanceof Element && target.closest<HTMLAnchorElement>('.comment-link');
    if (!link) return;
    navigator.clipboard?.writeText(link.href).then(
      () => showToast({ title: t('Link copied'), description: t('It leads to this comment.'), subject: 'copied' }),
      () => {},
    );
  };
  document.addEventListener('click', copy);
  return () => document.removeEventListener('click', copy);
}
