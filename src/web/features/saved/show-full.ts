import { t } from '../../language/translate.ts';
import { showToast } from '../../ui/toasts.ts';
import { MAX_SAVED } from './saved-products.ts';

/** Shows that no more products can be saved. A separate module, because few visitors need it. */
export function showFull(): void {
  showToast({
    title: t('No room left'),
    description: t('{count} products are saved. Remove one to save another.', { count: MAX_SAVED }),
  });
}
