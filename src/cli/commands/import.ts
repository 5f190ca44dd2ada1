import { access, constants, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Command } from 'commander';
import { formatCount, formatQuantity } from '../../contract/text.ts';
import { readDatabaseClock } from '../../core/database/clock.ts';
import type { FileKind } from '../../core/imports/check-file.ts';
import { readColumnMap } from '../../core/imports/columns.ts';
import type { FieldChange } from '../../core/imports/import-changes.ts';
import { ImportRefusedError, type Sampled } from '../../core/imports/import-errors.ts';
import { type ImportReport, importProducts } from '../../core/imports/import-products.ts';
import { DEFAULT_SEPARATOR } from '../../core/imports/read-values.ts';
import { describePosition } from '../../core/imports/source-record.ts';
import { pictureFolder } from '../../core/pictures/picture-store.ts';
import { readSettings } from '../../settings/settings.ts';
import { jsonOption, readFileKind, readText, UsageError } from '../arguments.ts';
import { oneLine, print, printError, printJson, startProgress } from '../terminal/output.ts';
import { untilInterrupted, withDatabase } from '../with-database.ts';

interface ImportFlags {
  map?: string[];
  split?: string;
  images?: string;
  slugifyIds?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

const EXIT_INVALID_INPUT = 2;

export function importCommand(): Command {
  return new Command('import')
    .description('add or update products from a file, even while the site runs')
    .argument('<file>', 'a CSV, JSON or JSON Lines file (.csv, .json, .jsonl, .ndjson)')
    .option(
      '--map <field=column>',
      'read a product field from this column; field= leaves the field out; repeatable',
      collect,
    )
    .option('--split <separator>', 'separator of the items in a list, such as tags', readText, DEFAULT_SEPARATOR)
    .option('--images <folder>', 'copy the pictures named in the file from this folder', readText)
    .option('--slugify-ids', 'slugify invalid ids instead of rejecting them')
    .option('--dry-run', 'print the changes without making them')
    .addOption(
      jsonOption(
        '{ "created": 2, "updated": 1, "unchanged": 64, "repeatedIds": [], "duplicates": { "count": 0, "first": [] }, "ignoredColumns": [], … }',
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  groundswell import products.csv       columns named like a product's fields
  groundswell import launches.csv --map name=Title --map tags=Topics --split ';'
  groundswell import --dry-run products.jsonl
  groundswell import products.json --images ./pictures

If any row is invalid, nothing is imported.
See docs/importing.md.`,
    )
    .action(async (file: string, flags: ImportFlags) => {
      const path = resolve(file);
      await requireFile(path);
      const kind = readFileKind(path);
      try {
        const report = await untilInterrupted((signal) => importFile(path, kind, flags, signal));
        const { json = false, dryRun = false } = flags;
        if (json) printJson(importAsJson(report, dryRun));
        else print(describeImport(report, dryRun));
      } catch (error) {
        if (!(error instanceof ImportRefusedError)) throw error;
        reportErrors(path, error);
        process.exitCode = EXIT_INVALID_INPUT;
      }
    });
}

function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

async function requireFile(path: string): Promise<void> {
  const stats = await access(path, constants.R_OK)
    .then(() => stat(path))
    .catch((error: NodeJS.ErrnoException) => error);
  if (stats instanceof Error)
    throw new UsageError(`${path} cannot be read: ${stats.code ?? stats.message}. Check the path and its permissions.`);
  if (!stats.isFile()) throw new UsageError(`${path} is not a file. Choose a CSV, JSON or JSON Lines file.`);
}

async function importFile(
  path: string,
  kind: FileKind,
  flags: ImportFlags,
  signal: AbortSignal,
): Promise<ImportReport> {
  const { map = [], split = DEFAULT_SEPARATOR, images, slugifyIds = false, dryRun = false } = flags;
  const columnMap = readColumnMap(map);
  const { dataDir, launches } = readSettings(process.env);
  const { size } = await stat(path);
  return withDatabase(
    async ({ withoutStatementTimeout }, _applied, log) => {
      const bars = { check: startProgress('Checking'), write: startProgress(dryRun ? 'Comparing' : 'Importing') };
      const onProgress = (stage: 'check' | 'write', done: number) => {
        signal.throwIfAborted();
        if (stage === 'write') bars.check.end();
        bars[stage].at(done, stage === 'check' ? size : undefined);
      };
      // An import may wait for another import, an edit or a removal for longer than the usual statement timeout.
      return withoutStatementTimeout(async (database) =>
        importProducts(database, {
          path,
          kind,
          map: columnMap,
          slugifyIds,
          separator: split,
          dryRun,
          pictures: images === undefined ? undefined : { from: resolve(images), to: pictureFolder(dataDir) },
          now: await readDatabaseClock(database),
          timeZone: launches.timeZone,
          log,
          onProgress,
        }),
      ).finally(() => {
        bars.check.end();
        bars.write.end();
      });
    },
    { signal, create: true },
  );
}

/** Prints the errors that were found in a file. Each line names the file, so it makes sense on its own. */
function reportErrors(path: string, { errors, count }: ImportRefusedError): void {
  const shown = errors.slice(0, MAX_SHOWN);
  for (const { line, item, field, reason } of shown) {
    // If a JSON array is on a single line, the position of the item is enough.
    const where = [describePosition({ line, item }), item !== undefined && line > 1 && `line ${line}`, field];
    printError(`groundswell: ${basename(path)}: ${where.filter(Boolean).join(': ')}: ${oneLine(reason)}`);
  }
  const rest = count > shown.length ? `, of which the first ${shown.length} are shown` : '';
  printError(`groundswell: ${basename(path)}: ${formatQuantity(count, 'error')}${rest}; nothing was imported`);
}

/** The maximum number of printed items per list. With `--json`, lists contain more. */
const MAX_SHOWN = 20;
const MAX_VALUE_CHARACTERS = 60;

/**
 * The result of an import or a dry run as JSON. Lists of products contain the first 100 items; `repeatedIds` and the
 * counts include all.
 */
function importAsJson(report: ImportReport, dryRun: boolean): object {
  const { created, updated, unchanged, duplicates } = report;
  return {
    created: created.count,
    updated: updated.count,
    unchanged,
    ...(dryRun ? { dryRun, wouldCreate: created.first, wouldUpdate: updated.first } : {}),
    repeatedIds: report.repeatedIds,
    duplicates: { count: duplicates.count, first: duplicates.first },
    ignoredColumns: [...report.ignoredColumns, ...report.ignoredCounts],
    picturesCopied: report.picturesCopied,
    localPictures: report.localPictures,
  };
}

/** Returns the human-readable result of an import or a dry run. */
function describeImport(report: ImportReport, dryRun: boolean): string {
  const { created, updated, unchanged } = report;
  const counts = `${formatCount(created.count)} created, ${formatCount(updated.count)} updated, ${formatCount(unchanged)} unchanged`;
  const lines = dryRun
    ? [...describeDifference(report), `Dry run: nothing was changed. The import would result in: ${counts}.`]
    : [`${counts}.`];
  return [...lines, ...describeWarnings(report)].join('\n');
}

function describeDifference({ created, updated }: ImportReport): string[] {
  return [
    ...listed(created, ({ id, name }) => [`+ ${id}  ${oneLine(name)}`]),
    ...listed(updated, ({ id, changes }) => [`~ ${id}`, ...changes.map(describeChange)]),
  ];
}

function describeChange({ field, before, after }: FieldChange): string {
  return `    ${field}: ${shown(before)} → ${shown(after)}`;
}

function describeWarnings(report: ImportReport): string[] {
  const { repeatedIds, duplicates, ignoredColumns, ignoredCounts, localPictures, picturesCopied } = report;
  const lines: string[] = [];
  if (picturesCopied > 0) lines.push(`Copied ${formatQuantity(picturesCopied, 'picture')} to the site.`);
  for (const { id, line, item } of repeatedIds.slice(0, MAX_SHOWN)) {
    lines.push(`Ignored ${describePosition({ line, item })}: a later row has the same id, ${id}.`);
  }
  if (repeatedIds.length > MAX_SHOWN)
    lines.push(`… and ${formatQuantity(repeatedIds.length - MAX_SHOWN, 'more such row')}.`);
  lines.push(
    ...listed(duplicates, ({ id, name, line, item, of }) => [
      `Possible duplicate: ${id} (${describePosition({ line, item })}) has the same name as ${of}: ${oneLine(name)}.`,
    ]),
  );
  if (ignoredColumns.length > 0) {
    const names = ignoredColumns.map((name) => `'${oneLine(name)}'`).join(', ');
    lines.push(`Ignored columns that are not fields of a product: ${names}. Use --map to read them as fields.`);
  }
  if (ignoredCounts.length > 0) {
    lines.push(`Ignored columns, because counts cannot be imported: ${ignoredCounts.join(', ')}.`);
  }
  if (localPictures > 0) {
    lines.push(
      `Pictures given as file names were not imported: ${formatCount(localPictures)}. Use --images to copy them from a folder. Existing products keep their pictures.`,
    );
  }
  return lines;
}

function listed<Item>({ first, count }: Sampled<Item>, describe: (item: Item) => string[]): string[] {
  const lines = first.slice(0, MAX_SHOWN).flatMap(describe);
  return count > MAX_SHOWN ? [...lines, `… and ${formatCount(count - MAX_SHOWN)} more.`] : lines;
}

function shown(value: unknown): string {
  const text = oneLine(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text;
}
