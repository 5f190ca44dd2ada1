import { type ComponentType, createContext, useContext } from 'react';

/** The component that announces new items; unset until its code has loaded. */
export const LiveUpdatesContext = createContext<ComponentType<{ productId?: string | undefined }> | undefined>(
  undefined,
);

/** The slot in which new comments on a product or, without `productId`, new launches are announced. */
export function LiveUpdatesSlot({ productId }: { productId?: string }) {
  const LiveUpdates = useContext(LiveUpdatesContext);
  return LiveUpdates && <LiveUpdates productId={productId} />;
}
