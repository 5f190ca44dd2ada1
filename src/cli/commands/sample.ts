import { Command } from 'commander';
import { formatQuantity } from '../../contract/text.ts';
import { getSampleTime, loadSample } from '../../core/catalogue/load-sample.ts';
import { previewRemoval, removeSample, type SampleRemoval } from '../../core/catalogue/remove-sample.ts';
import { readSampleCatalogue, type SampleCatalogue } from '../../core/catalogue/sample-catalogue.ts';
import { readDatabaseTime } from '../../core/database/clock.ts';
import type { Sql } from '../../core/database/database.ts';
import { systemRuntime } from '../../core/runtime.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import { readSettings } from '../../settings/settings.ts';
import { jsonOption } from '../arguments.ts';
import { confirm, print, printError, printJson, requireTerminal } from '../terminal/output.ts';
import { withDatabase } from '../with-database.ts';

export function sampleCommand(): Command {
  return new Command('sample')
    .description('load or remove the sample catalogue')
    .addCommand(loadCommand())
    .addCommand(removeCommand());
}

function loadCommand(): Command {
  return new Command('load')
    .description('add missing sample products')
    .addOption(jsonOption('{ "created": 67 }'))
    .action(async ({ json = false }: { json?: boolean }) => {
      const { created, total } = await withDatabase(
        async ({ database }) => {
          const catalogue = await readCatalogue(database);
          return { created: await loadSample(database, catalogue, systemRuntime), total: catalogue.products.length };
        },
        { create: true },
      );
      if (json) printJson({ created });
      else print(`Added ${created} of ${formatQuantity(total, 'sample product')}.`);
    });
}

function removeCommand(): Command {
  return new Command('remove')
    .description('remove the sample products with all upvotes and comments on them')
    .option('--engagement-only', 'remove only the sample upvotes and comments')
    .option('--yes', 'do not ask for confirmation')
    .addOption(
      jsonOption(
        '{ "products": 67, "comments": 24, "upvotes": 145, "visitorComments": 1, "visitorUpvotes": 3, "notRemoved": [] }',
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  groundswell sample remove                    start with a list of your own
  groundswell sample remove --engagement-only  keep the products, remove the
                                               sample upvotes and comments

Edited products are not removed; their ids are printed.`,
    )
    .action(async (options: { engagementOnly?: boolean; yes?: boolean; json?: boolean }) => {
      const { engagementOnly = false, yes = false, json = false } = options;
      if (!yes) requireTerminal();
      const removed = await withDatabase(({ withoutStatementTimeout }) =>
        withoutStatementTimeout(async (database) => {
          const catalogue = await readCatalogue(database);
          const question = `Remove ${describe(await previewRemoval(database, catalogue, { engagementOnly }))}?`;
          return yes || (await confirm(question)) ? removeSample(database, catalogue, { engagementOnly }) : undefined;
        }),
      );
      if (removed === undefined) return printError('Nothing was removed.');
      if (json) return printJson(removed);
      print(`Removed ${describe(removed)}.`);
      if (removed.notRemoved.length > 0)
        print(`Not removed, because they were changed: ${removed.notRemoved.join(', ')}.`);
    });
}

/**
 * Reads the sample catalogue. The times in the catalogue are relative to the time when the site loaded it, or to the
 * current time if it is not loaded.
 */
async function readCatalogue(sql: Sql): Promise<SampleCatalogue> {
  const { timeZone } = readSettings(process.env).launches;
  const loadedAt = (await getSampleTime(sql)) ?? { now: (await readDatabaseTime(sql)).toISOString(), timeZone };
  return readSampleCatalogue(PACKAGE_FOLDERS.catalogue, loadedAt);
}

/**
 * Describes a removal: `67 sample products, 120 sample upvotes and 24 sample comments, and with them 3 upvotes and 1
 * comment by visitors`.
 */
function describe({ products, upvotes, comments, visitorUpvotes, visitorComments }: SampleRemoval): string {
  const sample = `${formatQuantity(products, 'sample product')}, ${formatQuantity(upvotes, 'sample upvote')} and ${formatQuantity(comments, 'sample comment')}`;
  if (visitorUpvotes + visitorComments === 0) return sample;
  return `${sample}, and with them ${formatQuantity(visitorUpvotes, 'upvote')} and ${formatQuantity(visitorComments, 'comment')} by visitors`;
}
