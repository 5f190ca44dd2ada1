import { type ComponentType, useSyncExternalStore } from 'react';

type News = ComponentType<{ productId?: string | undefined }>;

let provided: News | null = null;
const listeners = new Set<() => void>();

/** Fills the slots, once the code is there. */
export function provideNews(news: News): void {
  provided = news;
  for (const listener of listeners) listener();
}

/** Where it is told what came in meanwhile: new comments on a product, or without one, new launches. */
export function NewsSlot({ productId }: { productId?: string }) {
  const News = useSyncExternalStore(
    subscribe,
    () => provided,
    () => null,
  );
  return News && <News productId={productId} />;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
