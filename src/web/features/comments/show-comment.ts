import { InfiniteQueryObserver, type QueryClient } from '@tanstack/react-query';
import type { Api } from '../../../contract/api.ts';
import { DEFAULT_COMMENT_SORT } from '../../../contract/comments/defaults.ts';
import type { Comment, CommentSort } from '../../../contract/comments/schema.ts';
import { matchRoute } from '../../../contract/routes.ts';
import { commentElementId, flattenComments } from '../../cache/cached-data.ts';
import { t } from '../../language/translate.ts';
import { abortedByVisitor } from '../../routing/scroll-on.ts';
import { findRendered, isTyping, scrollBehavior } from '../../ui/focus.ts';
import { dismissToast, showLoadFailure, showToast } from '../../ui/toasts.ts';
import { commentedProducts, commentListOptions, commentOrder, heldCommentsOptions } from './queries.ts';

/** The maximum number of further pages that are loaded to find a comment. */
const MAX_PAGES = 20;

/**
 * Scrolls to the comment that the fragment (`hash`) identifies, focuses it and highlights it. Shows a message while it
 * loads further pages to find the comment. If the comment is not found, shows an error, scrolls to the title of the
 * discussion and focuses the title. Stops as soon as the visitor interacts with the page. `mayScroll` is false if the document
 * scrolled before the app ran, either because the browser scrolled to the comment or because the visitor scrolled. In
 * that case, nothing scrolls and no further pages load.
 */
export async function showComment(api: Api, client: QueryClient, hash: string, mayScroll: boolean): Promise<void> {
  const route = matchRoute(window.location.pathname);
  if (route.name !== 'product') return;
  const params = new URLSearchParams(window.location.search);
  // The list on screen has the order that the visitor selected. Without a list, the product is still loading.
  const select = document.querySelector<HTMLSelectElement>('.sort-select select');
  const sort = (select?.value ?? DEFAULT_COMMENT_SORT) as CommentSort;
  const order = commentOrder(sort, params.get('comments'));
  const list = new InfiniteQueryObserver(client, commentListOptions(api, route.id, order));
  // An earlier list that stays on screen while this one loads does not count, because it may contain other comments.
  const find = () => {
    const found = document.getElementById(hash.slice(1));
    return found?.closest('[aria-busy=true]') ? null : found;
  };
  const isLinked = ({ id }: Comment) => hash === `#${commentElementId(id)}`;
  // The browser has scrolled only if the document contained the comment; otherwise, the visitor has.
  if (!mayScroll && !find()) return;
  const path = window.location.pathname;
  const stopped = abortedByVisitor();
  const mustStop = () => stopped.signal.aborted || window.location.pathname !== path || isTyping();
  let message: number | undefined;
  let isLoaded = false;
  let isFailed = false;
  for (let page = 0; page < MAX_PAGES && !isLoaded && !find() && !mustStop(); page += 1) {
    message ??= showToast({ title: t('Loading comments...'), description: '' });
    const { data, hasNextPage, isError } = await list.fetchNextPage();
    isLoaded = flattenComments(data).some(isLinked);
    isFailed = isError;
    if (!hasNextPage || isError) break;
  }
  let isHeldFailed = false;
  // Read last, so a slow or failed read does not delay finding other comments.
  if (!isLoaded && !find() && !mustStop()) {
    const held = await readHeld(api, client, route.id).catch(() => undefined);
    isLoaded = held?.some(isLinked) ?? false;
    isHeldFailed = !held;
  }
  const element = isLoaded ? await findRendered(find) : find();
  if (message !== undefined) dismissToast(message);
  const target = element ?? document.getElementById('comments-title');
  if (target && !mustStop()) {
    target.tabIndex = -1;
    if (mayScroll) target.scrollIntoView({ behavior: scrollBehavior(), block: 'center' });
    target.focus({ preventScroll: true });
    if (element) element.dataset.highlighted = 'true';
    // The list shows its own message about a failed read.
    else if (!isFailed && isHeldFailed) showLoadFailure();
    else if (!isFailed) showToast({ title: t('Error'), description: t('Comment not found'), tone: 'destructive' });
  }
  // Also removes the listeners.
  stopped.abort();
}

/** Returns the visitor's own comments that wait for moderation, which the list of comments does not contain. */
async function readHeld(api: Api, client: QueryClient, productId: string): Promise<Comment[]> {
  if (!commentedProducts.read().includes(productId)) return [];
  return (await client.fetchQuery(heldCommentsOptions(api, productId))).items;
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
