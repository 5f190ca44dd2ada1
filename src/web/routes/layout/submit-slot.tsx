import { Suspense } from 'react';
import { useSite } from '../../routing/document-head.ts';
import { lazyPart, ScreenView } from '../../routing/lazy-screen.tsx';

/** The button to submit a product, whose code is not part of the first load. */
export const SUBMIT_LINK = lazyPart(() => import('../submissions/submit-link.tsx').then((module) => module.SubmitLink));

export function SubmitSlot() {
  return (
    useSite().submissions && (
      <Suspense>
        <ScreenView screen={SUBMIT_LINK} />
      </Suspense>
    )
  );
}
