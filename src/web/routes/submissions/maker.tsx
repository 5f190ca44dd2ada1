import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { productDetailOptions } from '../../features/products/queries.ts';
import { t } from '../../language/translate.ts';
import { lazyPart, PartView } from '../../routing/lazy-screen.tsx';
import { useProductId, useRouter } from '../../routing/router.tsx';
import { useBrowserStore } from '../../storage/browser-store.ts';
import { deleteMakerKey, makerKeyIn, makerKeyOf, makerKeys, saveMakerKey } from '../../storage/maker-keys.ts';
import { showLoadFailure } from '../../ui/toasts.ts';
import { ProductMissing, ProductSkeleton } from '../product/product-states.tsx';

const MAKER_VIEW = lazyPart(() =>
  import('./maker-view.tsx').then(
    (module) => module.MakerView,
    (error: unknown) => {
      showLoadFailure();
      throw error;
    },
  ),
);

/** The maker's view on a product's page. Other visitors see only the product, if there is one. */
export function Maker() {
  const id = useProductId();
  return <ProductMaker key={id} id={id} />;
}

function ProductMaker({ id }: { id: string }) {
  const { data } = useQuery(productDetailOptions(useApi(), id));
  const { key, isRefused, refuse } = useMakerKey(id);
  const isMissing = data === null;
  if (key !== undefined) {
    return (
      <PartView
        key={key}
        part={MAKER_VIEW}
        fallback={isMissing && <ProductSkeleton />}
        access={{ id, key }}
        isMissing={isMissing}
        onRefused={refuse}
      />
    );
  }
  return (
    <>
      {isRefused && (
        <p className="saved-note" role="alert">
          {`${t('{sentence}.', { sentence: t('This maker link no longer works') })} `}
          {t('The operator may have replaced it, or the submission was withdrawn or declined and has been deleted.')}
        </p>
      )}
      {isMissing && <ProductMissing />}
    </>
  );
}

/**
 * Returns the maker key from the URL or, without one, the stored key. Stores the key from the URL unless another key is
 * stored. Removes a stored or rejected key from the URL, where others could see it, but not if storing it failed.
 */
function useMakerKey(id: string) {
  const { location, navigate } = useRouter();
  const { pathname, search, hash } = location;
  const linked = makerKeyIn(hash);
  const stored = useBrowserStore(makerKeys, (all) => all.find(({ productId }) => productId === id)?.key);
  /** The key from the URL, which replaces a stored key only after the server has accepted it. */
  const [given, setGiven] = useState<string>();
  const [refused, setRefused] = useState<string>();

  useEffect(() => {
    if (linked === undefined) return;
    // Reads the store directly, because the hook returns no value during hydration.
    if (makerKeyOf(id) === undefined) saveMakerKey({ productId: id, name: '', key: linked });
    setGiven(linked);
    setRefused(undefined);
  }, [linked, id]);

  // A key that may replace a stored one stays in the URL until the server responds, so a reload does not lose it.
  const isSettled = linked !== undefined && (linked === stored || linked === refused);
  useEffect(() => {
    if (isSettled && makerKeys.isPersisted()) navigate(pathname + search, { replace: true });
  }, [isSettled, pathname, search, navigate]);

  function refuse(key: string): void {
    setRefused(key);
    setGiven(undefined);
    if (key === makerKeyOf(id)) deleteMakerKey(id);
  }

  return { key: given ?? stored, isRefused: refused !== undefined, refuse };
}
