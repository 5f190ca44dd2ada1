import { Command } from 'commander';
import { loadSample } from '../../core/catalogue/load-sample.ts';
import { removeSample } from '../../core/catalogue/remove-sample.ts';
import { readSampleCatalogue } from '../../core/catalogue/sample-catalogue.ts';
import { systemSources } from '../../core/sources.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import { confirm } from '../confirm.ts';
import { withDatabase } from '../with-database.ts';

export function sampleCommand(): Command {
  return new Command('sample')
    .description('load or remove the sample catalogue')
    .addCommand(loadCommand())
    .addCommand(removeCommand());
}

function loadCommand(): Command {
  return new Command('load')
    .description('add the sample products that are not there yet')
    .option('--json', 'print the result as JSON')
    .action(async ({ json = false }: { json?: boolean }) => {
      const catalogue = await readSampleCatalogue(PACKAGE_FOLDERS.catalogue);
      const created = await withDatabase(({ database }) => loadSample(database, catalogue, systemSources));
      console.log(
        json ? JSON.stringify({ created }) : `Added ${created} of ${catalogue.products.length} sample products.`,
      );
    });
}

function removeCommand(): Command {
  return new Command('remove')
    .description('remove the sample products, with everything that visitors added to them')
    .option('--engagement-only', 'remove only the sample upvotes and comments; the products stay')
    .option('--yes', 'do not ask')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  groundswell sample remove                     start with a list of your own\n  groundswell sample remove --engagement-only   keep the products, drop the invented upvotes and comments',
    )
    .action(async (options: { engagementOnly?: boolean; yes?: boolean; json?: boolean }) => {
      const { engagementOnly = false, yes = false, json = false } = options;
      const what = engagementOnly
        ? 'all sample upvotes and comments'
        : 'all sample products, with the upvotes and comments on them';
      if (!yes && !(await confirm(`Remove ${what}?`))) {
        console.log('Nothing was removed.');
        return;
      }
      const catalogue = await readSampleCatalogue(PACKAGE_FOLDERS.catalogue);
      const removed = await withDatabase(({ database }) => removeSample(database, catalogue, { engagementOnly }));
      if (json) return console.log(JSON.stringify(removed));
      console.log(
        `Removed ${removed.products} products, ${removed.comments} sample comments and ${removed.upvotes} sample upvotes.`,
      );
      if (removed.kept.length > 0) console.log(`Kept, since they were changed: ${removed.kept.join(', ')}`);
    });
}
