import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type MouseEvent, useState } from 'react';
import { paths } from '../../../contract/paths.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { useApi } from '../../api/api-context.tsx';
import { productKeys } from '../../cache/keys.ts';
import { cachedProduct } from '../../cache/product-cache.ts';
import { plural, t } from '../../language/translate.ts';
import { useBrowserStore } from '../../storage/browser-store.ts';
import { setVisitPanel, useVisitPanel } from '../../storage/visit-panel.ts';
import { Link } from '../../ui/link.tsx';
import { Modal } from '../../ui/modal.tsx';
import { Picture } from '../../ui/picture.tsx';
import { SaveButton } from './save-button.tsx';
import { type SavedProduct, savedProducts } from './saved-products.ts';

const FRESH_MS = 5 * 60_000;

/** The saved products. A removed product stays visible until the dialog closes, so a slip can be undone there. */
export function SavedDialog({ onClose }: { onClose: () => void }) {
  const saved = useBrowserStore(savedProducts, (all) => all);
  const hasVisitPanel = useVisitPanel();
  const [shown, setShown] = useState(saved);
  // Another tab may have saved more since.
  const added = saved.filter(({ id }) => shown.every((product) => product.id !== id));
  if (added.length > 0) setShown([...added, ...shown]);

  return (
    <Modal title={t('Saved products')} onClose={onClose}>
      <p className="saved-note">{t('Kept in this browser only, and nobody else sees them.')}</p>
      {shown.length === 0 && (
        <p className="saved-empty">{t('Nothing saved yet. The bookmark on a product keeps it here for later.')}</p>
      )}
      {shown.length > 0 && (
        <ul className="saved-list" aria-label={t('Saved products')}>
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
  // The pressed button disappears.
  currentTarget.closest('dialog')?.querySelector('button')?.focus();
  setVisitPanel(true);
}

function SavedRow({ product }: { product: SavedProduct }) {
  const api = useApi();
  const client = useQueryClient();
  const { data } = useQuery<Product | null>({
    queryKey: productKeys.saved(product.id),
    queryFn: async ({ signal }) => (await api.getProduct(product.id, signal))?.product ?? null,
    placeholderData: () => cachedProduct(client, product.id),
    staleTime: FRESH_MS,
    // If a product cannot be read, its saved data is shown.
    retry: false,
  });
  const isGone = data === null;
  const { name, image } = data ?? product;

  return (
    <li className="saved-row">
      <Picture className="saved-picture" src={image} alt="" name={name} width={48} height={48} />
      <div className="saved-words">
        {isGone ? (
          <p className="saved-name" dir="auto">
            {name}
          </p>
        ) : (
          <Link className="saved-name" dir="auto" to={paths.product(product.id)} onClick={closeFirst}>
            {name}
          </Link>
        )}
        {isGone && <p className="saved-state">{t('No longer on the site')}</p>}
        {data && (
          <p className="saved-state">
            {plural('{count} upvote', '{count} upvotes', data.upvotes)}
            {t(', ')}
            {plural('{count} comment', '{count} comments', data.comments)}
          </p>
        )}
      </div>
      <SaveButton product={{ ...product, name, image }} />
    </li>
  );
}

/** Elements behind an open dialog cannot take the focus, which the new page needs. */
function closeFirst(event: MouseEvent): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.currentTarget.closest('dialog')?.close();
}
