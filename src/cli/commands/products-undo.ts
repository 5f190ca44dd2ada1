import { Command } from 'commander';
import { restoreRemoved } from '../restore-removed.ts';

export function undoCommand(): Command {
  return new Command('undo')
    .description('bring back what the last `products remove` took away, exactly as it was')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  groundswell products undo   once more brings back what was removed before that',
    )
    .action(({ json = false }: { json?: boolean }) => restoreRemoved({ last: true }, json));
}
