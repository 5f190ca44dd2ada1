import { useQueryClient } from '@tanstack/react-query';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import { usePerform } from '../../api/actions.ts';
import { call } from '../../api/console-api.ts';
import { changeItems } from '../../api/pages.ts';
import { formatQuantity } from '../../ui/format-count.ts';

/** The fields that the lists of products and of removed products share. */
interface Listed {
  id: string;
  name: string;
}

const SUBJECTS = ['products', 'product', 'comments'];

const send = (verb: 'remove' | 'restore', products: readonly Listed[], reason?: string) =>
  call(verb === 'remove' ? CONSOLE_API.removeProducts : CONSOLE_API.restoreProducts, {
    method: 'POST',
    body: { ids: products.map(({ id }) => id), ...(reason && { reason }) },
  });

const describe = (products: readonly Listed[]) =>
  products.length === 1 ? (products[0]?.name ?? '') : formatQuantity(products.length, 'product');

export function useRemoveProducts() {
  return useMoveProducts('remove', 'restore', 'Removed');
}

export function useRestoreProducts() {
  return useMoveProducts('restore', 'remove', 'Restored');
}

function useMoveProducts(verb: 'remove' | 'restore', inverse: 'remove' | 'restore', done: string) {
  const client = useQueryClient();
  const perform = usePerform();
  return (products: readonly Listed[], reason?: string) =>
    perform({
      subjects: SUBJECTS,
      show: () =>
        changeItems<Listed>(client, 'products', (each) =>
          products.some(({ id }) => id === each.id) ? undefined : each,
        ),
      async run() {
        await send(verb, products, reason);
        return { done: `${done} ${describe(products)}` };
      },
      undo: () => send(inverse, products),
    });
}
