import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Command } from 'commander';
import { loadExport } from '../../core/exports/load-export.ts';
import { isExport, verifyExport } from '../../core/exports/read-export.ts';
import type { FileKind } from '../../core/imports/check-file.ts';
import { readColumnMap } from '../../core/imports/fields.ts';
import { ImportRefusedError } from '../../core/imports/import-faults.ts';
import { type ImportReport, importProducts } from '../../core/imports/import-products.ts';
import { pictureFolder } from '../../core/pictures/picture-store.ts';
import { systemSources } from '../../core/sources.ts';
import { readSettings } from '../../settings/settings.ts';
import { describeImport, importAsJson } from '../describe-import.ts';
import { oneLine } from '../one-line.ts';
import { startProgress } from '../progress.ts';
import { untilInterrupted } from '../until-interrupted.ts';
import { UsageError } from '../usage-error.ts';
import { withDatabase } from '../with-database.ts';

interface ImportFlags {
  map?: string[];
  images?: string;
  slugifyIds?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

const KINDS: ReadonlyMap<string, FileKind> = new Map([
  ['.json', 'json'],
  ['.jsonl', 'json-lines'],
  ['.ndjson', 'json-lines'],
  ['.csv', 'csv'],
]);

const FAULTY_INPUT = 2;

export function importCommand(): Command {
  return new Command('import')
    .description('add products from a file, or bring those that are there up to date, while the site runs')
    .argument('<file>', 'CSV, JSON or JSON Lines by its ending (.csv, .json, .jsonl, .ndjson), or what `export` wrote')
    .option('--map <field=column>', 'take a field of the product from this column; may be given again', collect)
    .option('--images <folder>', 'copy pictures that the file names from this folder to the site')
    .option('--slugify-ids', 'make ids legal that are not, instead of refusing them')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  groundswell import products.csv                              columns are called as the fields of a product are
  groundswell import launches.csv --map name=Title --map tags=Topics
  groundswell import --dry-run products.jsonl                  what would change
  groundswell import products.json --images ./pictures         pictures are copied to the site

All of a file is imported or, where a row of it is wrong, nothing. See docs/importing.md.`,
    )
    .action(async (file: string, flags: ImportFlags) => {
      const path = resolve(file);
      await mustBeFile(path);
      if (await isExport(path)) return untilInterrupted((signal) => importExport(path, flags, signal));
      const kind = KINDS.get(/\.[^.]*$/.exec(path)?.[0].toLowerCase() ?? '');
      if (kind === undefined) throw new UsageError(`${path}: its name must end in ${[...KINDS.keys()].join(', ')}`);
      try {
        const report = await untilInterrupted((signal) => importFile(path, kind, flags, signal));
        const { json = false, dryRun = false } = flags;
        console.log(json ? JSON.stringify(importAsJson(report, dryRun)) : describeImport(report, dryRun));
      } catch (error) {
        if (!(error instanceof ImportRefusedError)) throw error;
        reportFaults(path, error);
        process.exitCode = FAULTY_INPUT;
      }
    });
}

function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

async function mustBeFile(path: string): Promise<void> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (stats instanceof Error) throw new UsageError(`${path} cannot be read: ${stats.code ?? stats.message}`);
  if (!stats.isFile()) throw new UsageError(`${path} is no file`);
}

async function importFile(
  path: string,
  kind: FileKind,
  flags: ImportFlags,
  signal: AbortSignal,
): Promise<ImportReport> {
  const { map = [], images, slugifyIds = false, dryRun = false } = flags;
  const columnMap = readColumnMap(map);
  const { dataDir } = readSettings(process.env);
  const { size } = await stat(path);
  return withDatabase(async ({ database }) => {
    const bars = { check: startProgress('Checking'), write: startProgress(dryRun ? 'Comparing' : 'Importing') };
    const done = { check: 0, write: 0 };
    const report = await importProducts(database, {
      path,
      kind,
      map: columnMap,
      slugifyIds,
      dryRun,
      pictures: images === undefined ? undefined : { from: resolve(images), to: pictureFolder(dataDir) },
      now: systemSources.now(),
      onProgress(stage, count) {
        signal.throwIfAborted();
        done[stage] += count;
        if (stage === 'write') bars.check.end();
        bars[stage].at(done[stage], stage === 'check' ? size : undefined);
      },
    }).finally(() => {
      bars.check.end();
      bars.write.end();
    });
    return report;
  });
}

async function importExport(
  path: string,
  { map, images, slugifyIds, dryRun, json }: ImportFlags,
  signal: AbortSignal,
): Promise<void> {
  const flags = { '--map': map, '--images': images, '--slugify-ids': slugifyIds, '--dry-run': dryRun };
  const given = Object.entries(flags).find(([, value]) => value !== undefined);
  if (given)
    throw new UsageError(`${given[0]} is for files of products; ${path} is an export, which is taken as it is`);
  const bars = { check: startProgress('Checking'), write: startProgress('Importing') };
  try {
    const rows = await verifyExport(path, (count) => {
      signal.throwIfAborted();
      bars.check.at(count);
    });
    bars.check.end();
    const loaded = await withDatabase(({ withoutTimeLimit }) =>
      withoutTimeLimit((database) =>
        loadExport(database, path, (count) => {
          signal.throwIfAborted();
          bars.write.at(count, rows);
        }),
      ),
    );
    bars.write.end();
    const { created = 0, updated = 0, unchanged = 0 } = loaded.products ?? {};
    if (json) return console.log(JSON.stringify({ created, updated, unchanged, tables: loaded }));
    for (const [table, merged] of Object.entries(loaded)) {
      console.log(`${table}: ${merged.created} created, ${merged.updated} updated, ${merged.unchanged} unchanged.`);
    }
  } finally {
    bars.check.end();
    bars.write.end();
  }
}

/** Each with the file, since an editor or a colleague is told of them. */
function reportFaults(path: string, { faults, count }: ImportRefusedError): void {
  for (const { line, field, reason } of faults) {
    const where = field === null ? `line ${line}` : `line ${line}: ${field}`;
    console.error(`groundswell: ${basename(path)}: ${where}: ${oneLine(reason)}`);
  }
  const rest = count > faults.length ? `, of which these are the first ${faults.length}` : '';
  console.error(
    `groundswell: ${basename(path)}: ${count} ${count === 1 ? 'fault' : 'faults'}${rest}; nothing was imported`,
  );
}
