import { Suspense } from 'react';
import { lazyPart, ScreenView } from '../../routing/lazy-screen.tsx';

/** The code of the standing, which is not part of the first load. */
export const STANDING = lazyPart(() =>
  import('../../features/leaderboards/standing.tsx').then((module) => module.Standing),
);

export function StandingSlot() {
  return (
    <Suspense fallback={<div className="standing" />}>
      <ScreenView screen={STANDING} />
    </Suspense>
  );
}
