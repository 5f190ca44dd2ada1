import { Command } from 'commander';
import { isUuid } from '../../core/uuid.ts';
import { productIdsOf } from '../arguments.ts';
import { oneLine } from '../one-line.ts';
import { restoreRemoved } from '../restore-removed.ts';
import { UsageError } from '../usage-error.ts';

export function restoreCommand(): Command {
  return new Command('restore')
    .description('bring removed products back, exactly as they were')
    .argument('[ids...]', 'ids of products; of each, the last removal is taken back')
    .option('--removal <id>', 'one removal, as `products list --removed` shows it')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  groundswell products restore git rust
  groundswell products list --removed
  groundswell products restore --removal 0f8fad5b-d9cb-469f-a165-70867728950e`,
    )
    .action(async (ids: string[], { removal, json = false }: { removal?: string; json?: boolean }) => {
      if (ids.length > 0 === (removal !== undefined)) throw new UsageError('name ids of products, or one --removal');
      if (removal === undefined) return restoreRemoved({ productIds: productIdsOf(ids) }, json);
      if (!isUuid(removal)) throw new UsageError(`'${oneLine(removal)}' is no id of a removal`);
      return restoreRemoved({ removalId: removal }, json);
    });
}
