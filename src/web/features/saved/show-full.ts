import { t } from '../../language/translate.ts';
import { showToast } from '../../ui/toasts.ts';
import { MAX_SAVED } from './saved-products.ts';

/** Says that no more products can be saved. Of its own, since almost nobody meets it. */
export function showFull(): void {
  showToast({
    title: t('No room left'),
    description: t('{count} products are saved. Remove one to save another.', { count: MAX_SAVED }),
  });
}
