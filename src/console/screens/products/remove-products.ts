import { useQueryClient } from '@tanstack/react-query';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { RemovalResult, RemovedProductRecord } from '../../../contract/console/records.ts';
import { formatQuantity } from '../../../contract/text.ts';
import { undoEach, usePerform } from '../../api/actions.ts';
import { call } from '../../api/console-api.ts';
import { changeItems } from '../../api/pages.ts';

/** The fields that listed products and removed products share. Only removed products have a `removalId`. */
type Listed = Pick<RemovedProductRecord, 'id' | 'name'> & { removalId?: string };
type Removal = Pick<RemovedProductRecord, 'id' | 'name' | 'removalId'>;

const SUBJECTS = ['products', 'product', 'comments', 'votes'];

const remove = (products: readonly Listed[], reason?: string) =>
  call<RemovalResult>(CONSOLE_API.removeProducts, {
    method: 'POST',
    body: { ids: products.map(({ id }) => id), ...(reason && { reason }) },
  });

const restore = (removals: readonly Removal[]) =>
  call<{ auditIds: string[] }>(CONSOLE_API.restoreProducts, {
    method: 'POST',
    body: { removalIds: removals.map(({ removalId }) => removalId) },
  });

const describe = (products: readonly Listed[]) =>
  products.length === 1 ? (products[0]?.name ?? '') : formatQuantity(products.length, 'product');

/** Says which products were already gone, for example because another operator was faster. */
const noteOf = (skipped: readonly string[], products: readonly Listed[]) =>
  skipped.length > 0
    ? `${describe(products.filter(({ id }) => skipped.includes(id)))} had already been removed.`
    : undefined;

/**
 * Returns a function that undoes the changes of these audit log entries, and the subject of the toasts about the undo.
 */
function undoOf(auditIds: readonly string[]) {
  const subject = `audit entry ${auditIds[0]}`;
  return { subject, undo: () => undoEach(auditIds, 'product', subject) };
}

/** Returns a function that removes products, with an optimistic update and undo. */
export function useRemoveProducts() {
  const hide = useHide();
  const perform = usePerform();
  return <Item extends Listed>(
    products: readonly Item[],
    onRemoved: (gone: readonly Item[]) => void,
    reason?: string,
  ) =>
    perform({
      subjects: SUBJECTS,
      isInDialog: true,
      show: () => hide(products),
      async run() {
        const { removed, skipped } = await remove(products, reason);
        onRemoved(products);
        return {
          done: `Removed ${describe(removed)}`,
          note: noteOf(skipped, products),
          ...(removed.length > 0 && undoOf(removed.map(({ removalId }) => removalId))),
        };
      },
    });
}

/** Returns a function that restores removed products, with an optimistic update and undo. */
export function useRestoreProducts() {
  const hide = useHide();
  const perform = usePerform();
  return <Item extends Removal>(removals: readonly Item[], onRestored: (restored: readonly Item[]) => void) =>
    perform({
      subjects: SUBJECTS,
      show: () => hide(removals),
      async run() {
        const { auditIds } = await restore(removals);
        onRestored(removals);
        return { done: `Restored ${describe(removals)}`, ...undoOf(auditIds) };
      },
    });
}

/**
 * Returns a function that hides rows of the list of products or, if they have a `removalId`, of the list of removed
 * products.
 */
function useHide() {
  const client = useQueryClient();
  return (hidden: readonly Listed[]) =>
    changeItems<Listed>(client, 'products', (each) =>
      hidden.some(({ id, removalId }) => id === each.id && removalId === each.removalId) ? undefined : each,
    );
}
