import type { RemovedProduct } from '../core/products/remove-products.ts';
import { type RemovalChoice, restoreProducts } from '../core/products/restore-products.ts';
import { describeProducts } from './describe-products.ts';
import { withDatabase } from './with-database.ts';

/**
 * Brings removed products back and says so. @throws Error where there is nothing to bring back, or an id was taken meanwhile:
 * then nothing was changed.
 */
export async function restoreRemoved(choice: RemovalChoice, json: boolean): Promise<void> {
  const { restored, notRemoved, taken } = await withDatabase((connection) =>
    connection.withoutTimeLimit((database) => restoreProducts(database, choice)),
  );
  if (taken.length > 0)
    throw new Error(
      `nothing was restored, since there is another product by now with the id ${taken.join(', ')}. Remove that one first, then name the removal: \`products restore --removal …\`, as \`products list --removed\` shows it.`,
    );
  if (notRemoved.length > 0)
    throw new Error(`nothing was restored, since there is no removal of ${notRemoved.join(', ')}`);
  if (restored.length === 0) throw new Error('nothing was restored, since no product was removed');
  console.log(json ? JSON.stringify({ restored }) : summaryOf(restored));
}

function summaryOf(restored: readonly RemovedProduct[]): string {
  return `Restored ${describeProducts(restored)}: ${restored.map(({ id }) => id).join(', ')}.`;
}
