import { Command } from 'commander';
import { listCommand } from './products-list.ts';
import { removeCommand } from './products-remove.ts';
import { restoreCommand } from './products-restore.ts';
import { showCommand } from './products-show.ts';
import { undoCommand } from './products-undo.ts';

export function productsCommand(): Command {
  return new Command('products')
    .description('look at products, remove them, and bring them back')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(removeCommand())
    .addCommand(undoCommand())
    .addCommand(restoreCommand());
}
