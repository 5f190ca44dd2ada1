import { Command } from 'commander';
import type { Product } from '../../contract/products/schema.ts';
import { type InspectedProduct, inspectProduct } from '../../core/products/inspect-product.ts';
import { productIdsOf } from '../arguments.ts';
import { oneLine } from '../one-line.ts';
import { styleFor } from '../terminal/style.ts';
import { withDatabase } from '../with-database.ts';

export function showCommand(): Command {
  return new Command('show')
    .description('show all that is known about a product, or about its removal')
    .argument('<id>', 'id of a product, as the list and its address show it')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  groundswell products show git\n  groundswell products show git --json | jq .product.tags',
    )
    .action(async (id: string, { json = false }: { json?: boolean }) => {
      productIdsOf([id]);
      const inspected = await withDatabase(({ database }) => inspectProduct(database, id));
      if (inspected.product === null && inspected.removals.length === 0)
        throw new Error(`there is no product '${id}', and none was removed`);
      if (json) return console.log(JSON.stringify(inspected));
      describe(inspected);
    });
}

function describe({ product, removals, heldComments, hiddenComments }: InspectedProduct): void {
  const style = styleFor(process.stdout, process.env);
  const line = (name: string, text: string) => console.log(`${style('bold', name.padEnd(12))}  ${oneLine(text)}`);
  if (product !== null) {
    describeProduct(product, line);
    line('Upvotes', product.upvotes.toLocaleString('en'));
    line('Comments', `${product.comments.toLocaleString('en')} public, ${heldComments} held, ${hiddenComments} hidden`);
  }
  for (const { name, removedAt, upvotes, comments, removalId } of removals) {
    const engagement = `${upvotes.toLocaleString('en')} upvotes, ${comments.toLocaleString('en')} comments`;
    line('Removed', `${removedAt}  ${name}  ${engagement}  (removal ${removalId})`);
  }
}

function describeProduct(product: Product, line: (name: string, text: string) => void): void {
  line('Id', product.id);
  line('Name', product.name);
  line('Description', product.description);
  line('Category', product.category);
  line('Tags', product.tags.join(', '));
  line('Maker', product.maker);
  line('Launched', `${product.launchDate} (in the list since ${product.createdAt})`);
  line('Image', product.image);
  for (const address of product.screenshots) line('Screenshot', address);
  for (const { name, role } of product.team) line('Team', role === '' ? name : `${name}, ${role}`);
}
