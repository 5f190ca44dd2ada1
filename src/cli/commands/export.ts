import { once } from 'node:events';
import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { formatQuantity } from '../../contract/text.ts';
import { partialPath } from '../../core/backups/write-backup.ts';
import { EXPORT_TABLES, type ExportTable, writeExport } from '../../core/exports/write-export.ts';
import { writeThenRename } from '../../core/file-system.ts';
import type { FileKind } from '../../core/imports/check-file.ts';
import { jsonOption, readFileKind, UsageError } from '../arguments.ts';
import { print, printJson, safeJson, startProgress } from '../terminal/output.ts';
import { untilInterrupted, withDatabase } from '../with-database.ts';
import { asOutputError, prepareOutputPath } from './backup.ts';

interface ExportFlags {
  tables: ExportTable;
  counts: boolean;
  force: boolean;
  json: boolean;
}

/** What to export: the table, the file format, and whether to add counts. */
type Contents = Pick<Parameters<typeof writeExport>[1], 'table' | 'kind' | 'counts'>;

/** The file name that selects standard output. */
const STANDARD_OUTPUT = '-';

export function exportCommand(): Command {
  return new Command('export')
    .description('write products, upvotes, comments or submissions to a CSV, JSON or JSON Lines file')
    .argument(
      '<file>',
      'the extension selects the format: .csv, .json, .jsonl or .ndjson; - writes JSON Lines to standard output',
    )
    .addOption(new Option('--tables <name>', 'the table to export').choices(EXPORT_TABLES).default('products'))
    .option('--counts', "add each product's upvote and comment counts", false)
    .option('--force', 'replace an existing file', false)
    .addOption(jsonOption('{ "file": …, "rows": { "products": 67 } }'))
    .addHelpText(
      'after',
      `
Examples:
  groundswell export products.csv            what \`groundswell import\` reads
  groundswell export products.json --counts
  groundswell export comments.csv --tables comments
  groundswell export - | jq -r .name

To save the whole site, use \`groundswell backup\`.`,
    )
    .action(async (file: string, { tables: table, counts, force, json }: ExportFlags) => {
      if (counts && table !== 'products') throw new UsageError('--counts applies only to products. Leave it out.');
      if (file === STANDARD_OUTPUT) {
        if (json)
          throw new UsageError(
            '--json cannot be combined with an export to standard output. Leave --json out, or name a file.',
          );
        await exportToStandardOutput({ table, kind: 'json-lines', counts });
        return;
      }
      const path = resolve(file);
      const kind: FileKind = readFileKind(path);
      await prepareOutputPath(path, { force });
      const rows = await exportToFile(path, { table, kind, counts }, force);
      if (json) return printJson({ file: path, rows: { [table]: rows } });
      print(`Exported ${formatQuantity(rows, table.slice(0, -1))}.`);
      print(path);
    });
}

/**
 * Exports to a temporary file that only its owner can read, and renames it after it is complete and synced to disk.
 * @returns the number of rows.
 * @throws UsageError if the folder is not writable, or if the file exists and `force` is false.
 */
async function exportToFile(path: string, contents: Contents, force: boolean): Promise<number> {
  return writeThenRename(path, { aside: partialPath(path), mode: 0o600, replace: force }, (file) =>
    exportTo(contents, (part) => file.writeFile(part)),
  ).catch((error: unknown) => {
    throw asOutputError(error, path);
  });
}

/** Exports to standard output. A reader that stops early, as in `groundswell export - | head`, causes no error. */
async function exportToStandardOutput(contents: Contents): Promise<void> {
  await exportTo(contents, async (part, signal) => {
    // Unsafe characters are escaped, because the output may be shown in a terminal.
    if (!process.stdout.write(part.split('\n').map(safeJson).join('\n')))
      await once(process.stdout, 'drain', { signal });
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

async function exportTo(
  contents: Contents,
  write: (part: string, signal: AbortSignal) => Promise<void>,
): Promise<number> {
  const progress = startProgress('Exporting');
  let done = 0;
  const onRows = (count: number) => {
    done += count;
    progress.at(done);
  };
  return untilInterrupted((signal) =>
    withDatabase(
      ({ withoutStatementTimeout }) =>
        withoutStatementTimeout((database) => {
          const writeUnlessAborted = (part: string) => {
            signal.throwIfAborted();
            return write(part, signal);
          };
          return writeExport(database, { ...contents, write: writeUnlessAborted, onRows });
        }),
      { signal },
    ),
  ).finally(progress.end);
}
