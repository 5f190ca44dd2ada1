import { type ReactNode, Suspense } from 'react';
import { useSite } from '../../routing/document-head.ts';
import { lazyPart, ScreenView } from '../../routing/lazy-screen.tsx';

/** The maker's view of the product on screen, whose code is not part of the first load. */
export const MAKER = lazyPart(() => import('../submissions/maker.tsx').then((module) => module.Maker));

/** Others see the children. */
export function MakerSlot({ children }: { children: ReactNode }) {
  return useSite().submissions ? (
    <Suspense fallback={children}>
      <ScreenView screen={MAKER} />
    </Suspense>
  ) : (
    children
  );
}
