import { type ComponentType, useSyncExternalStore } from 'react';

type LiveUpdates = ComponentType<{ productId?: string | undefined }>;

let provided: LiveUpdates | null = null;
const listeners = new Set<() => void>();

/** Fills the slots once the code is loaded. */
export function provideLiveUpdates(news: LiveUpdates): void {
  provided = news;
  for (const listener of listeners) listener();
}

/** Where new comments on a product or, without one, new launches are announced. */
export function LiveUpdatesSlot({ productId }: { productId?: string }) {
  const LiveUpdates = useSyncExternalStore(
    subscribe,
    () => provided,
    () => null,
  );
  return LiveUpdates && <LiveUpdates productId={productId} />;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
