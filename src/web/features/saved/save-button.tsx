import { showToast } from '../../lib/toasts.ts';
import { BookmarkIcon } from '../../ui/icons.tsx';
import { forgetProduct, MOST_SAVED, type SavedProduct, saveProduct, useIsSaved } from './saved-products.ts';

interface SaveButtonProps {
  product: SavedProduct;
  /** Beside other words it has one of its own. */
  look?: 'icon' | 'word';
}

/** Keeps a product in this browser, or no more. Whether it is kept, the server cannot know: the button is pressed after hydration. */
export function SaveButton({ product, look = 'icon' }: SaveButtonProps) {
  const isSaved = useIsSaved(product.id);

  function toggle(): void {
    if (isSaved) forgetProduct(product.id);
    else if (!saveProduct(product)) showToast({ title: 'No room left', description: FULL });
  }

  return (
    <button
      type="button"
      className="button save-button"
      data-tone={look === 'icon' ? 'quiet' : 'outline'}
      aria-label={`Save ${product.name}`}
      aria-pressed={isSaved}
      title={isSaved ? 'Remove from saved products' : 'Save for later'}
      onClick={toggle}
    >
      <BookmarkIcon />
      {look === 'word' && 'Save'}
    </button>
  );
}

const FULL = `${MOST_SAVED} products are saved. Remove one to save another.`;
