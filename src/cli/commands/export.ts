import { once } from 'node:events';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { EXPORT_TABLES, type ExportTable } from '../../core/exports/export-format.ts';
import { writeExport } from '../../core/exports/write-export.ts';
import { startProgress } from '../progress.ts';
import { untilInterrupted } from '../until-interrupted.ts';
import { UsageError } from '../usage-error.ts';
import { withDatabase } from '../with-database.ts';

interface ExportFlags {
  tables?: readonly ExportTable[];
  force?: boolean;
  json?: boolean;
}

/** The name that stands for standard output. */
const STANDARD_OUTPUT = '-';

export function exportCommand(): Command {
  return new Command('export')
    .description(
      'write products, upvotes and comments as JSON Lines, which `import` takes in again, while the site runs',
    )
    .argument('<file>', 'where to write it, such as site.jsonl; - for standard output')
    .option('--tables <names>', `only these, between commas: ${EXPORT_TABLES.join(', ')}`, readTables)
    .option('--force', 'replace a file of that name')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  groundswell export site.jsonl                          everything that the site shows
  groundswell export --tables products products.jsonl    the products alone
  groundswell export - | gzip > site.jsonl.gz
  groundswell export - --tables products | jq -c '.products // empty'

Upvotes name the sessions of visitors, which are secrets: only its owner can read the file.`,
    )
    .action(async (file: string, flags: ExportFlags) => {
      if (file === STANDARD_OUTPUT) return exportToStandardOutput(flags);
      const path = resolve(file);
      await mustBeFree(path, flags.force ?? false);
      const rows = await exportToFile(path, flags.tables ?? EXPORT_TABLES);
      if (flags.json) return console.log(JSON.stringify({ file: path, rows }));
      const counts = Object.entries(rows).map(([table, count]) => `${count.toLocaleString('en')} ${table}`);
      console.log(`Exported ${counts.join(', ')}.\n${path}`);
    });
}

function readTables(text: string): ExportTable[] {
  const names = text.split(',').map((name) => name.trim());
  return names.map((name) => {
    const table = EXPORT_TABLES.find((known) => known === name);
    if (table === undefined) {
      throw new InvalidArgumentError(`There is no table '${name}'; there are ${EXPORT_TABLES.join(', ')}.`);
    }
    return table;
  });
}

/** Said before any database is started for it. */
async function mustBeFree(path: string, force: boolean): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory()) throw new UsageError(`there is no folder ${dirname(path)}: make it first`);
  const present = await stat(path).catch(() => undefined);
  if (present && !present.isFile()) throw new UsageError(`${path} is no file: name another one`);
  if (present && !force) {
    throw new UsageError(`${path} is there already: name another file, or add --force to replace it`);
  }
}

/** It appears under its name when it is whole and on the disk, for the eyes of its owner alone. */
async function exportToFile(path: string, tables: readonly ExportTable[]): Promise<Record<string, number>> {
  const partial = `${path}.${process.pid}.partial`;
  try {
    const file = await open(partial, 'wx', 0o600);
    try {
      const rows = await exportTo(tables, async (part) => {
        await file.writeFile(part);
      });
      await file.sync();
      await rename(partial, path);
      return rows;
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(partial, { force: true });
    throw asUsageError(error, path);
  }
}

async function exportToStandardOutput({ tables = EXPORT_TABLES, json }: ExportFlags): Promise<void> {
  if (json) throw new UsageError('--json has no place to go where the export itself goes to standard output');
  await exportTo(tables, async (part) => {
    if (!process.stdout.write(part)) await once(process.stdout, 'drain');
  });
}

async function exportTo(
  tables: readonly ExportTable[],
  write: (part: string) => Promise<void>,
): Promise<Record<string, number>> {
  const progress = startProgress('Exporting');
  let done = 0;
  const onRows = (count: number) => {
    done += count;
    progress.at(done);
  };
  return untilInterrupted((signal) =>
    withDatabase(({ withoutTimeLimit }) =>
      withoutTimeLimit((database) => {
        const writeOn = (part: string) => {
          signal.throwIfAborted();
          return write(part);
        };
        return writeExport(database, { tables, write: writeOn, onRows });
      }),
    ),
  ).finally(progress.end);
}

/** A folder that cannot be written into is the operator's to mend. */
function asUsageError(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) return error;
  return new UsageError(`this user may not write ${basename(path)} into ${dirname(path)} (${code})`);
}
