import { useBrowserStore } from '../../lib/browser-store.ts';
import { useLateDialog } from '../../lib/late-dialog.ts';
import { BookmarkIcon } from '../../ui/icons.tsx';
import { savedProducts } from './saved-products.ts';

const load = () => import('./saved-dialog.tsx').then((module) => module.SavedDialog);

/** Opens what this browser has saved; the number beside it is there after hydration and lies over the button, moving nothing. */
export function SavedButton() {
  const count = useBrowserStore(savedProducts, (all) => all.length);
  const { Dialog, close, props } = useLateDialog(load);
  return (
    <>
      <button type="button" className="icon-button saved-button" title="Saved products" {...props}>
        <BookmarkIcon />
        <span className="visually-hidden">Saved products</span>
        {count > 0 && <span className="saved-button-count">{count}</span>}
      </button>
      {Dialog && <Dialog onClose={close} />}
    </>
  );
}
