import { type ComponentType, createContext, useContext } from 'react';

/** The component that announces new items, once its code is loaded. */
export const LiveUpdatesContext = createContext<ComponentType<{ productId?: string | undefined }> | undefined>(
  undefined,
);

/** Where new comments on a product or, without one, new launches are announced. */
export function LiveUpdatesSlot({ productId }: { productId?: string }) {
  const LiveUpdates = useContext(LiveUpdatesContext);
  return LiveUpdates && <LiveUpdates productId={productId} />;
}
