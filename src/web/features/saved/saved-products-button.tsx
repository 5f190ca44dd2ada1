import { t } from '../../language/translate.ts';
import { useBrowserStore } from '../../storage/browser-store.ts';
import { useDeferredDialog } from '../../ui/deferred-dialog.ts';
import { BookmarkIcon } from '../../ui/icons.tsx';
import { savedProducts } from './saved-products.ts';

const load = () => import('./saved-dialog.tsx').then((module) => module.SavedDialog);

/**
 * A button that opens the dialog of saved products. Their number appears only after hydration, so it is placed over the
 * button and does not shift the layout.
 */
export function SavedProductsButton() {
  const count = useBrowserStore(savedProducts, (all) => all.length);
  const { Dialog, close, props } = useDeferredDialog(load);
  return (
    <>
      <button type="button" className="icon-button saved-button" title={t('Saved products')} {...props}>
        <BookmarkIcon />
        <span className="visually-hidden">{t('Saved products')}</span>
        {count > 0 && <span className="saved-button-count">{count}</span>}
      </button>
      {Dialog && <Dialog onClose={close} />}
    </>
  );
}
