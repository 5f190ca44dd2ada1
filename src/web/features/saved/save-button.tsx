import { t } from '../../language/translate.ts';
import { BookmarkIcon } from '../../ui/icons.tsx';
import { showToast } from '../../ui/toasts.ts';
import { MAX_SAVED, type SavedProduct, saveProduct, unsaveProduct, useIsSaved } from './saved-products.ts';

interface SaveButtonProps {
  product: SavedProduct;
  /** Whether the button shows an icon or a word. */
  look?: 'icon' | 'word';
}

/**
 * A button that saves a product in this browser or removes it. The server does not know which products are saved, so
 * the button shows the state only after hydration.
 */
export function SaveButton({ product, look = 'icon' }: SaveButtonProps) {
  const isSaved = useIsSaved(product.id);
  const word = look === 'word' && isSaved ? 'Saved' : 'Save';

  function toggle(): void {
    if (isSaved) unsaveProduct(product.id);
    else if (!saveProduct(product)) {
      showToast({
        title: t('No room left'),
        description: t('{count} products are saved. Remove one to save another.', { count: MAX_SAVED }),
      });
    }
  }

  return (
    <button
      type="button"
      className="button save-button"
      data-tone={look === 'icon' ? 'quiet' : 'outline'}
      aria-label={t(word === 'Saved' ? 'Saved {name}' : 'Save {name}', { name: product.name })}
      aria-pressed={isSaved}
      title={isSaved ? t('Remove from saved products') : t('Save for later')}
      onClick={toggle}
    >
      <BookmarkIcon />
      {look === 'word' && <span data-other={t(isSaved ? 'Save' : 'Saved')}>{t(word)}</span>}
    </button>
  );
}
