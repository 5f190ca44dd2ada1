import { Command, Option } from 'commander';
import type { RemovedProductRecord } from '../../contract/console/records.ts';
import { fieldOf, PRODUCT_FIELD_NAMES } from '../../contract/products/fields.ts';
import type { Product, TeamMember } from '../../contract/products/schema.ts';
import { formatCount, formatQuantity, utcMinute } from '../../contract/text.ts';
import { readDatabaseClock, readDatabaseTime } from '../../core/database/clock.ts';
import { type BrowseSort, browseProducts } from '../../core/products/browse-products.ts';
import { editProduct } from '../../core/products/edit-product.ts';
import { type InspectedProduct, inspectProduct } from '../../core/products/get-product.ts';
import { listRemovals } from '../../core/products/remove-products.ts';
import { launchRules } from '../../core/submissions/launch-product.ts';
import { readSettings } from '../../settings/settings.ts';
import { jsonOption, limitOption, readInstant, readProductIds, readText, UsageError } from '../arguments.ts';
import { oneLine, print, printJson } from '../terminal/output.ts';
import { printTable, printWithLead } from '../terminal/table.ts';
import { withDatabase } from '../with-database.ts';
import { removeCommand, restoreCommand, undoCommand } from './products-remove.ts';

export function productsCommand(): Command {
  return new Command('products')
    .description('list, show, edit, remove and restore products, and undo the last removal')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(editCommand())
    .addCommand(removeCommand())
    .addCommand(undoCommand())
    .addCommand(restoreCommand());
}

interface Flags {
  text?: string;
  tag?: string;
  category?: string;
  since?: Date;
  sort: BrowseSort;
  removed?: boolean;
  scheduled?: boolean;
  limit: number;
  json?: boolean;
}

const SORTS: readonly BrowseSort[] = ['newest', 'top', 'discussed', 'name'];

function listCommand(): Command {
  return new Command('list')
    .description('list products, or removed products')
    .option('--text <text>', 'only products with this text in the name or description, ignoring case', readText)
    .option('--tag <tag>', 'only products with this tag, ignoring case', readText)
    .option('--category <category>', 'only products in this category, ignoring case', readText)
    .option(
      '--since <date>',
      'only products launched since a time, such as 2026-01-31 (UTC) or 2026-01-31T18:00:00Z',
      readInstant,
    )
    .addOption(new Option('--sort <order>', 'sort order').choices(SORTS).default('newest'))
    .option('--scheduled', 'only products that launch in the future, next launch first')
    .addOption(
      new Option('--removed', 'removed products that can be restored, last removal first').conflicts([
        'text',
        'tag',
        'category',
        'since',
        'sort',
        'scheduled',
      ]),
    )
    .addOption(limitOption(100))
    .addOption(
      jsonOption(
        '{ "products": […] } or { "removals": [{ "id": …, "name": …, "upvotes": 1, "comments": 0, "removalId": …, "removedAt": …, "reason": null }] }',
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  groundswell products list --since 2026-01-01 --sort top --limit 20
  groundswell products list --tag database --text "open source"
  groundswell products list --scheduled
  groundswell products list --removed
  groundswell products list --json --limit 1000 | jq -r '.products[].id'`,
    )
    .action(async ({ removed = false, scheduled = false, json = false, ...filter }: Flags) => {
      if (removed) return listRemoved(filter.limit, json);
      const { items: products } = await withDatabase(async ({ database }) =>
        browseProducts(database, scheduled ? { ...filter, scheduledAfter: await readDatabaseTime(database) } : filter),
      );
      if (json) return printJson({ products });
      if (products.length === 0) return print('No products match.');
      printProducts(products, scheduled);
    });
}

async function listRemoved(limit: number, json: boolean): Promise<void> {
  const removals = await withDatabase(({ database }) => listRemovals(database, { limit }));
  if (json) return printJson({ removals });
  if (removals.length === 0) return print('There are no removed products.');
  printRemovals(removals);
}

function printProducts(products: readonly Product[], scheduled: boolean): void {
  printTable(
    [
      { title: 'ID', style: 'green' },
      { title: 'NAME', shrinks: true },
      { title: 'CATEGORY', shrinks: true },
      { title: scheduled ? 'LAUNCHES (UTC)' : 'LAUNCHED', style: 'dim' },
      { title: 'UPVOTES', align: 'right' },
      { title: 'COMMENTS', align: 'right' },
    ],
    products.map(({ id, name, category, createdAt, upvotes, comments }) => [
      id,
      name,
      category,
      scheduled ? utcMinute(createdAt) : createdAt.slice(0, 10),
      formatCount(upvotes),
      formatCount(comments),
    ]),
  );
}

function printRemovals(removals: readonly RemovedProductRecord[]): void {
  printTable(
    [
      { title: 'ID', style: 'green' },
      { title: 'NAME', shrinks: true },
      { title: 'REMOVED (UTC)', style: 'dim' },
      { title: 'UPVOTES', align: 'right' },
      { title: 'COMMENTS', align: 'right' },
      { title: 'REMOVAL' },
    ],
    removals.map(({ id, name, removedAt, upvotes, comments, removalId }) => [
      id,
      name,
      utcMinute(removedAt),
      formatCount(upvotes),
      formatCount(comments),
      removalId,
    ]),
  );
}

const NAME_WIDTH = 14;

function showCommand(): Command {
  return new Command('show')
    .description('show all details of a product, and its removals')
    .argument('<id>', 'id of a product, as shown by `groundswell products list`')
    .addOption(jsonOption('{ "product": {…}, "heldComments": 0, "hiddenComments": 0, "removals": [] }'))
    .addHelpText(
      'after',
      '\nExamples:\n  groundswell products show git\n  groundswell products show git --json | jq .product.tags',
    )
    .action(async (id: string, { json = false }: { json?: boolean }) => {
      readProductIds([id]);
      const inspected = await withDatabase(({ database }) => inspectProduct(database, id));
      if (inspected.product === null && inspected.removals.length === 0)
        throw new Error(`there is no current or removed product '${id}': \`groundswell products list\` lists the ids`);
      if (json) return printJson(inspected);
      for (const [name, text] of factsOf(inspected)) printFact(name, text);
    });
}

export function printFact(name: string, text: string): void {
  printWithLead(['bold', name.padEnd(NAME_WIDTH)], text);
}

function factsOf({ product, removals, heldComments, hiddenComments }: InspectedProduct): [string, string][] {
  const shown: [string, string][] = product === null ? [] : productFacts(product);
  if (product !== null) {
    shown.push(
      ['Upvotes', formatCount(product.upvotes)],
      ['Comments', `${formatCount(product.comments)} public, ${heldComments} held, ${hiddenComments} hidden`],
    );
  }
  for (const { name, removedAt, upvotes, comments, removalId } of removals) {
    const engagement = `${formatQuantity(upvotes, 'upvote')}, ${formatQuantity(comments, 'comment')}`;
    shown.push(['Removed', `${removedAt}  ${name}  ${engagement}  (removal ${removalId})`]);
  }
  return shown;
}

/** Returns the fields of a product as pairs of label and text. Each team member and screenshot has its own pair. */
export function productFacts(product: Product): [string, string][] {
  return PRODUCT_FIELD_NAMES.flatMap((name) => {
    const value = product[name];
    const texts = typeof value === 'string' ? [value] : name === 'tags' ? [product.tags.join(', ')] : value.map(textOf);
    return texts.map((text): [string, string] => [fieldOf(name).label, text]);
  });
}

function textOf(item: string | TeamMember): string {
  if (typeof item === 'string') return item;
  return item.role === '' ? item.name : `${item.name}, ${item.role}`;
}

const FIELDS = PRODUCT_FIELD_NAMES.filter((name) => name !== 'id');

function editCommand(): Command {
  return new Command('edit')
    .description('change fields of a product')
    .argument('<id>', 'id of a product')
    .requiredOption('--set <field=value...>', 'new value of a field; an empty value restores the default', collect)
    .addOption(jsonOption('{ "product": {…} }'))
    .addHelpText(
      'after',
      `
Examples:
  groundswell products edit git --set 'name=Git 3' --set 'tags=scm, git'
  # schedule it
  groundswell products edit git --set createdAt=2026-12-01T09:00:00Z

Fields: ${FIELDS.slice(0, 6).join(', ')},
${FIELDS.slice(6).join(', ')}.
Values have the same format as in an import; team and lists may be JSON.
createdAt cannot be empty.`,
    )
    .action(async (id: string, { set, json = false }: { set: Map<string, string>; json?: boolean }) => {
      readProductIds([id]);
      const { timeZone } = readSettings(process.env).launches;
      const { product, auditId } = await withDatabase(async ({ database }) => {
        const rules = launchRules({ now: await readDatabaseClock(database) }, timeZone);
        return editProduct(database, id, { values: Object.fromEntries(set) }, rules);
      });
      if (json) return printJson({ product });
      const name = `'${oneLine(product.name)}' (${product.id})`;
      print(auditId === null ? `${name} already has these values; nothing was changed.` : `Edited ${name}.`);
    });
}

/** Adds a `field=value` argument to the previous ones. @throws UsageError if it has no field name or no `=`. */
function collect(text: string, before: ReadonlyMap<string, string> = new Map()): Map<string, string> {
  const split = text.indexOf('=');
  if (split < 1) throw new UsageError(`--set ${text} must have the form field=value.`);
  return new Map([...before, [text.slice(0, split), text.slice(split + 1)]]);
}
