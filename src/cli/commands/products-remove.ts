import { Command } from 'commander';
import { formatQuantity } from '../../contract/text.ts';
import type { Connection } from '../../core/database/connect.ts';
import { readProducts } from '../../core/products/product-row.ts';
import { type RemovedProduct, removeProducts } from '../../core/products/remove-products.ts';
import { type RemovalChoice, restoreProducts } from '../../core/products/restore-products.ts';
import { isUuid } from '../../core/runtime.ts';
import { readSettings } from '../../settings/settings.ts';
import { jsonOption, readProductIds, reasonOption, UsageError } from '../arguments.ts';
import { confirm, oneLine, print, printError, printJson, requireTerminal, startProgress } from '../terminal/output.ts';
import { withDatabase } from '../with-database.ts';

interface RemoveFlags {
  reason?: string;
  yes?: boolean;
  json?: boolean;
}

export function removeCommand(): Command {
  return new Command('remove')
    .description('remove products with their upvotes and comments; `groundswell products undo` restores them')
    .argument('<ids...>', 'product ids')
    .addOption(reasonOption())
    .option('--yes', 'do not ask for confirmation')
    .addOption(jsonOption('{ "removed": [{ "id": …, "name": …, "upvotes": 1, "comments": 0, "removalId": … }] }'))
    .addHelpText(
      'after',
      `
Examples:
  groundswell products remove not-a-product        asks for confirmation
  groundswell products remove --yes spam-1 spam-2  all of them or none
  groundswell products remove spam-3 --reason spam
  groundswell products undo                        reverts the last removal`,
    )
    .action(async (given: string[], { reason, yes = false, json = false }: RemoveFlags) => {
      const ids = [...new Set(readProductIds(given))];
      if (!yes) requireTerminal();
      const removed = await withDatabase(async (connection) => {
        const found = await findAll(connection, ids);
        const question = `Remove ${found.map(describeOne).join(', ')}?`;
        return yes || (await confirm(question)) ? remove(connection, ids, reason) : undefined;
      });
      if (removed === undefined) return printError('Nothing was removed.');
      if (json) return printJson({ removed });
      print(`Removed ${describeAll(removed)}. \`groundswell products undo\` reverts the last removal.`);
    });
}

export function undoCommand(): Command {
  return new Command('undo')
    .description('restore the products of the last removal')
    .addOption(jsonOption('{ "restored": [{ "id": …, "name": …, "upvotes": 1, "comments": 0 }] }'))
    .addHelpText('after', '\nExamples:\n  groundswell products undo  reverts the last removal; repeat for earlier ones')
    .action(({ json = false }: { json?: boolean }) => restore({ last: true }, json));
}

export function restoreCommand(): Command {
  return new Command('restore')
    .description('restore removed products with their upvotes and comments')
    .argument('[ids...]', 'product ids; reverts the last removal of each product')
    .option('--removal <id>', 'revert the removal with this id (listed by `groundswell products list --removed`)')
    .addOption(jsonOption('{ "restored": [{ "id": …, "name": …, "upvotes": 1, "comments": 0 }] }'))
    .addHelpText(
      'after',
      `
Examples:
  groundswell products restore git rust
  groundswell products list --removed
  groundswell products restore --removal 0f8fad5b-d9cb-469f-a165-70867728950e`,
    )
    .action(async (ids: string[], { removal, json = false }: { removal?: string; json?: boolean }) => {
      if (ids.length > 0 === (removal !== undefined)) throw new UsageError('Specify either product ids or --removal.');
      if (removal === undefined) return restore({ productIds: readProductIds(ids) }, json);
      if (!isUuid(removal))
        throw new UsageError(`'${removal}' is not a removal id. Use one from \`groundswell products list --removed\`.`);
      return restore({ removalIds: [removal.toLowerCase()] }, json);
    });
}

async function findAll({ database }: Connection, ids: readonly string[]): Promise<RemovedProduct[]> {
  const products = new Map((await readProducts(database, ids)).map((product) => [product.id, product]));
  throwIfUnknown(ids.filter((id) => !products.has(id)));
  return ids.flatMap((id) => products.get(id) ?? []);
}

async function remove(connection: Connection, ids: readonly string[], reason?: string): Promise<RemovedProduct[]> {
  const progress = startProgress('Removing');
  const { removed, unknown } = await connection
    .withoutStatementTimeout((database) => removeProducts(database, ids, reason))
    .finally(progress.end);
  throwIfUnknown(unknown);
  return removed;
}

function throwIfUnknown(ids: readonly string[]): void {
  if (ids.length > 0)
    throw new Error(
      `nothing was removed, because these products do not exist: ${ids.join(', ')}; \`groundswell products list\` lists the ids`,
    );
}

/**
 * Restores products and prints the result.
 * @throws Error if nothing was restored: a removal does not exist, or another product now has the removed id.
 */
async function restore(choice: RemovalChoice, json: boolean): Promise<void> {
  const { timeZone } = readSettings(process.env).launches;
  const { restored, notRemoved, taken } = await withDatabase((connection) =>
    connection.withoutStatementTimeout((database) => restoreProducts(database, choice, timeZone)),
  );
  if (taken.length > 0)
    throw new Error(
      `nothing was restored, because other products now have these ids: ${taken.join(', ')}. Remove those products first, then run \`groundswell products restore --removal\` with the removal's id from \`groundswell products list --removed\`.`,
    );
  if (notRemoved.length > 0) throw new Error(`nothing was restored: there is no removal of ${notRemoved.join(', ')}`);
  if (restored.length === 0) throw new Error('nothing was restored: there is no removal to undo');
  if (json) return printJson({ restored });
  print(`Restored ${describeAll(restored)}: ${restored.map(({ id }) => id).join(', ')}.`);
}

function describeOne(product: RemovedProduct): string {
  return `'${oneLine(product.name)}' (${product.id}, ${engagementOf(product)})`;
}

/** Describes removed products: `2 products with 1,234 upvotes and 1 comment`. */
function describeAll(products: readonly RemovedProduct[]): string {
  const sum = (key: 'upvotes' | 'comments') => products.reduce((total, product) => total + product[key], 0);
  const engagement = engagementOf({ upvotes: sum('upvotes'), comments: sum('comments') });
  return `${formatQuantity(products.length, 'product')} with ${engagement}`;
}

function engagementOf({ upvotes, comments }: Pick<RemovedProduct, 'upvotes' | 'comments'>): string {
  return `${formatQuantity(upvotes, 'upvote')} and ${formatQuantity(comments, 'comment')}`;
}
