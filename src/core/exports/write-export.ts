import { createHash } from 'node:crypto';
import type { Database, Sql } from '../database/database.ts';
import { liftTimeLimits } from '../database/lift-time-limits.ts';
import {
  EXPORT_TABLES,
  EXPORT_VERSION,
  type ExportEnd,
  type ExportHeader,
  type ExportTable,
  lineOf,
} from './export-format.ts';
import { holdSnapshot, readRows, readTableShapes } from './table-rows.ts';

export interface WriteExportOptions {
  tables: readonly ExportTable[];
  /** Takes the next part of the file, and holds the reading back until it is written. */
  write(part: string): Promise<void>;
  onRows?: ((count: number) => void) | undefined;
}

/**
 * Writes tables as JSON Lines, as of one moment, while the site runs. The same rows make the same bytes: there is no time in it.
 * `database` must give statements the time they need.
 * @returns rows by table. @throws CoreError `unavailable`, or the error of `write`.
 */
export async function writeExport(database: Database, options: WriteExportOptions): Promise<Record<string, number>> {
  return database.transaction(async (sql) => {
    await holdSnapshot(sql);
    await liftTimeLimits(sql);
    return writeLines(sql, options);
  });
}

async function writeLines(sql: Sql, { tables, write, onRows }: WriteExportOptions): Promise<Record<string, number>> {
  // In the order in which they can be taken in, whatever the order in which they were asked for.
  const shapes = await readTableShapes(
    sql,
    EXPORT_TABLES.filter((name) => tables.includes(name)),
  );
  const whole = createHash('sha256');
  const put = (part: string) => {
    whole.update(part);
    return write(part);
  };
  const named = shapes.map(({ name, columns }) => ({ name: name as ExportTable, columns: [...columns] }));
  const header: ExportHeader = { format: 'export', version: EXPORT_VERSION, tables: named };
  await put(lineOf('groundswell', JSON.stringify(header)));
  const end: ExportEnd = { tables: {}, sha256: '' };
  for (const shape of shapes) {
    const sum = createHash('sha256');
    let count = 0;
    for await (const rows of readRows(sql, shape)) {
      const lines = rows.map((row) => lineOf(shape.name, row)).join('');
      sum.update(lines);
      await put(lines);
      count += rows.length;
      onRows?.(rows.length);
    }
    end.tables[shape.name] = { rows: count, sha256: sum.digest('hex') };
  }
  end.sha256 = whole.digest('hex');
  await write(lineOf('end', JSON.stringify(end)));
  return Object.fromEntries(Object.entries(end.tables).map(([name, { rows }]) => [name, rows]));
}
