import { Command } from 'commander';
import type { Connection } from '../../core/database/connect.ts';
import { inspectProduct } from '../../core/products/inspect-product.ts';
import { type RemovedProduct, removeProducts } from '../../core/products/remove-products.ts';
import { productIdsOf } from '../arguments.ts';
import { confirm, requireTerminal } from '../confirm.ts';
import { describeEngagement, describeProducts } from '../describe-products.ts';
import { oneLine } from '../one-line.ts';
import { startProgress } from '../progress.ts';
import { withDatabase } from '../with-database.ts';

export function removeCommand(): Command {
  return new Command('remove')
    .description('take products off the site, with their upvotes and comments; they can be restored')
    .argument('<ids...>', 'ids of products')
    .option('--yes', 'do not ask')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  groundswell products remove not-a-product           asks first
  groundswell products remove --yes spam-1 spam-2     all of them, or none where one is unknown
  groundswell products undo                           brings back what the last command removed`,
    )
    .action(async (ids: string[], { yes = false, json = false }: { yes?: boolean; json?: boolean }) => {
      const asked = [...new Set(productIdsOf(ids))];
      if (!yes) requireTerminal();
      const removed = await withDatabase(async (connection) => {
        const found = await findAll(connection, asked);
        const question = `Remove ${found.map(describe).join(', ')}?`;
        return yes || (await confirm(question)) ? remove(connection, asked) : undefined;
      });
      if (removed === undefined) return console.log('Nothing was removed.');
      if (json) return console.log(JSON.stringify({ removed }));
      console.log(`Removed ${describeProducts(removed)}. \`products undo\` brings back what was removed last.`);
    });
}

async function findAll({ database }: Connection, ids: readonly string[]): Promise<RemovedProduct[]> {
  const found: RemovedProduct[] = [];
  const unknown: string[] = [];
  for (const id of ids) {
    const { product } = await inspectProduct(database, id);
    if (product === null) unknown.push(id);
    else found.push(product);
  }
  refuse(unknown);
  return found;
}

async function remove(connection: Connection, ids: readonly string[]): Promise<RemovedProduct[]> {
  const progress = startProgress('Removing');
  const { removed, unknown } = await connection
    .withoutTimeLimit((database) => removeProducts(database, ids))
    .finally(progress.end);
  refuse(unknown);
  return removed;
}

function refuse(unknown: readonly string[]): void {
  if (unknown.length > 0) throw new Error(`nothing was removed, since there is no product ${unknown.join(', ')}`);
}

function describe(product: RemovedProduct): string {
  return `'${oneLine(product.name)}' (${product.id}, ${describeEngagement(product)})`;
}
