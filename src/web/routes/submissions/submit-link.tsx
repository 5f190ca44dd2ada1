import { type ComponentType, Suspense, useEffect, useState } from 'react';
import * as paths from '../../../contract/paths.ts';
import { t } from '../../language/translate.ts';
import { useRouter, useSearchParams } from '../../routing/router.tsx';
import { Link } from '../../ui/link.tsx';
import { showLoadFailure } from '../../ui/toasts.ts';

const load = () => import('./submit-dialog.tsx').then((module) => module.SubmitDialog);
/** Marks history entries that the link adds. The entry before each is a page of this site. */
const FROM_LINK = 'from link';

const prepare = () => void load().catch(() => {});

/** A link to the dialog for submitting a product, and the dialog itself, which has its own URL. */
export function SubmitLink() {
  const [Dialog, setDialog] = useState<ComponentType<{ isFromLink: boolean }> | null>(null);
  const { location } = useRouter();
  const isOpen = useSearchParams().has('submit') && location.pathname === paths.home;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a click on the link tries again if loading has failed
  useEffect(() => {
    if (isOpen) load().then((loaded) => setDialog(() => loaded), showLoadFailure);
  }, [isOpen, location.key]);

  return (
    <>
      <Link
        className="button submit-link"
        data-tone="outline"
        to={paths.submit}
        state={isOpen ? location.state : FROM_LINK}
        onPointerEnter={prepare}
        onFocus={prepare}
      >
        {t('Submit a product')}
      </Link>
      {/* While the dialog waits for its styles, the link stays visible and keeps the focus. */}
      <Suspense>{isOpen && Dialog && <Dialog key={location.key} isFromLink={location.state === FROM_LINK} />}</Suspense>
    </>
  );
}
