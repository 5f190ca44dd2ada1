import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type MouseEvent, useState } from 'react';
import * as paths from '../../../contract/paths.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { useApi } from '../../api/api-context.tsx';
import { findListedProduct, productKeys } from '../../cache/cached-data.ts';
import { plural, t } from '../../language/translate.ts';
import { useLocation } from '../../routing/router.tsx';
import { useBrowserStore } from '../../storage/browser-store.ts';
import { setVisitPanel, useVisitPanel } from '../../storage/visit-panel.ts';
import { closeOnNavigation, Modal, ProductRow } from '../../ui/modal.tsx';
import { SaveButton } from './save-button.tsx';
import { type SavedProduct, savedProducts } from './saved-products.ts';

const FRESH_MS = 5 * 60_000;

/**
 * The dialog of saved products. A removed product stays visible until the dialog closes, so an accidental removal can
 * be undone.
 */
export function SavedDialog({ onClose }: { onClose: () => void }) {
  const saved = useBrowserStore(savedProducts, (all) => all);
  const hasVisitPanel = useVisitPanel();
  const location = useLocation();
  const [shown, setShown] = useState(saved);
  // Another tab may have saved more products since the dialog opened.
  const added = saved.filter(({ id }) => shown.every((product) => product.id !== id));
  if (added.length > 0) setShown([...added, ...shown]);

  return (
    <Modal title={t('Saved products')} location={location} onClose={onClose}>
      <p className="saved-note">{t('Stored in this browser, and visible only to you.')}</p>
      {shown.length === 0 && (
        <p className="saved-empty">{t('Nothing saved yet. The bookmark on a product keeps it here for later.')}</p>
      )}
      {shown.length > 0 && (
        <ul className="saved-list" aria-label={t('Saved products')} onClickCapture={closeOnNavigation}>
          {shown.map((product) => (
            <SavedRow key={product.id} product={product} />
          ))}
        </ul>
      )}
      {!hasVisitPanel && (
        <button type="button" className="text-button visit-news-off" onClick={showVisitPanel}>
          {t('Show again what happened since my last visit')}
        </button>
      )}
    </Modal>
  );
}

function showVisitPanel({ currentTarget }: MouseEvent): void {
  // The pressed button disappears, so the first button of the dialog gets the focus.
  currentTarget.closest('dialog')?.querySelector('button')?.focus();
  setVisitPanel(true);
}

function SavedRow({ product }: { product: SavedProduct }) {
  const api = useApi();
  const client = useQueryClient();
  const { data } = useQuery<Product | null>({
    queryKey: productKeys.saved(product.id),
    queryFn: async ({ signal }) => (await api.getProduct(product.id, signal))?.product ?? null,
    placeholderData: () => findListedProduct(client, product.id)?.product,
    staleTime: FRESH_MS,
    // Not retried, because the dialog shows the saved data if the product cannot be read.
    retry: false,
  });
  const isGone = data === null;
  const { name, image } = data ?? product;

  return (
    <ProductRow
      product={{ name, image }}
      to={isGone ? undefined : paths.product(product.id)}
      state={
        isGone
          ? t('No longer on the site')
          : data && (
              <>
                {plural('{count} upvote', '{count} upvotes', data.upvotes)}
                {t(', ')}
                {plural('{count} comment', '{count} comments', data.comments)}
              </>
            )
      }
    >
      <SaveButton product={{ ...product, name, image }} />
    </ProductRow>
  );
}
