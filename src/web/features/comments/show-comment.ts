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
 * Scrolls to the comment that the fragment (`hash`) names, focuses it and highlights it. If the comment is not loaded,
 * loads further pages and shows a message meanwhile. If there is no such comment, shows an error and moves to the title
 * of the discussion. Stops as soon as the visitor interacts with the page. `mayScroll` is false if the page was
 * scrolled before the app ran. In that case, nothing scrolls and no further pages load.
 */
export async function showComment(api: Api, client: QueryClient, hash: string, mayScroll: boolean): Promise<void> {
  const route = matchRoute(window.location.pathname);
  // The visitor may have opened another page while this code loaded.
  if (route.name !== 'product' || window.location.hash !== hash) return;
  const params = new URLSearchParams(window.location.search);
  // The list on screen has the order that the visitor selected. Without a list, the product is still loading.
  const select = document.querySelector<HTMLSelectElement>('.sort-select select');
  const sort = (select?.value ?? DEFAULT_COMMENT_SORT) as CommentSort;
  const order = commentOrder(sort, params.get('comments'));
  const list = new InfiniteQueryObserver(client, commentListOptions(api, route.id, order));
  // Ignores an earlier list that stays on screen while `list` loads, because `list` may contain other comments.
  const find = () => {
    const found = document.getElementById(hash.slice(1));
    return found?.closest('[aria-busy=true]') ? null : found;
  };
  const isLinked = ({ id }: Comment) => hash === `#${commentElementId(id)}`;
  // The page has already scrolled. If the document lacks the comment, the visitor scrolled it, not the browser.
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
    // If the read of the list failed, no toast appears, because the list itself reports that.
    else if (!isFailed && isHeldFailed) showLoadFailure();
    else if (!isFailed) showToast({ title: t('Error'), description: t('Comment not found'), tone: 'destructive' });
  }
  // Removes the listeners for the visitor's input.
  stopped.abort();
}

/** Returns the visitor's own comments that wait for moderation, which the list of comments does not contain. */
async function readHeld(api: Api, client: QueryClient, productId: string): Promise<Comment[]> {
  if (!commentedProducts.read().includes(productId)) return [];
  return (await client.fetchQuery(heldCommentsOptions(api, productId))).items;
}

/**
 * Copies the URL of a comment when its link is clicked. Over plain HTTP, where browsers offer no clipboard, the address
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
