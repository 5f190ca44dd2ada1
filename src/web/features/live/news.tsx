import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { Api } from '../../../contract/api.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { paths } from '../../../contract/paths.ts';
import { useApi } from '../../lib/api-context.tsx';
import { commentElementId, commentKeys } from '../../lib/comment-cache.ts';
import { formatAmount } from '../../lib/format-count.ts';
import { productKeys } from '../../lib/product-cache.ts';
import { type LiveUpdates, startLive } from './live.ts';
import { NewsButton } from './news-button.tsx';
import { pointOut } from './point-out.ts';
import { readOn } from './read-on.ts';
import { shownComments, shownList, waitingComments } from './shown.ts';

const started = new WeakMap<QueryClient, LiveUpdates>();

/** The page's one connection to what happens on the site. */
function liveOf(api: Api, client: QueryClient): LiveUpdates {
  const live = started.get(client) ?? startLive({ api, client, renderedAt: renderedAt() });
  started.set(client, live);
  return live;
}

function renderedAt(): number {
  const state = JSON.parse(document.getElementById('state')?.textContent ?? '{}') as { renderedAt?: number };
  return state.renderedAt ?? 0;
}

/** What came in meanwhile: comments on a product, or without one, launches. */
export function News({ productId }: { productId?: string | undefined }) {
  return productId === undefined ? <NewLaunches /> : <NewComments key={productId} productId={productId} />;
}

/** '2 new launches', above the list that they are not in yet. */
function NewLaunches() {
  const client = useQueryClient();
  const { launches } = liveOf(useApi(), client);
  const count = useSyncExternalStore(
    (listener) => both(launches.subscribe(listener), client.getQueryCache().subscribe(listener)),
    () => launches.waiting().length,
  );

  async function show(): Promise<void> {
    const before = shownList(client)?.ids ?? new Set();
    await client.refetchQueries({ queryKey: productKeys.lists, type: 'active' });
    const added = [...(shownList(client)?.ids ?? [])].find((id) => !before.has(id));
    await pointOut(() => added && cardOf(added), 'list-title');
  }

  const amount = count >= LIMITS.pageSize.default ? `${LIMITS.pageSize.default}+` : String(count);
  return <NewsButton count={count} label={`${amount} new ${count === 1 ? 'launch' : 'launches'}`} onShow={show} />;
}

/** '3 new comments', above the comments that they are not among yet. */
function NewComments({ productId }: { productId: string }) {
  const client = useQueryClient();
  liveOf(useApi(), client);
  const count = useSyncExternalStore(
    (listener) => client.getQueryCache().subscribe(listener),
    () => waitingComments(client, productId),
  );

  async function show(): Promise<void> {
    const idsNow = () =>
      shownComments(client, productId)?.pages.flatMap(({ items }) => items.map(({ id }) => id)) ?? [];
    const before = new Set(idsNow());
    await client.refetchQueries({ queryKey: commentKeys.product(productId), type: 'active' });
    const added = await readOn(client, commentKeys.product(productId), () => idsNow().find((id) => !before.has(id)));
    await pointOut(() => added && document.getElementById(commentElementId(added)), 'comments-title');
  }

  return <NewsButton count={count} label={formatAmount(count, 'new comment')} onShow={show} />;
}

function cardOf(productId: string): Element | null {
  const link = document.querySelector(`.product-list a[href="${paths.product(productId)}"]`);
  return link?.closest('article') ?? null;
}

function both(one: () => void, other: () => void): () => void {
  return () => {
    one();
    other();
  };
}
