import { basename } from 'node:path';
import pg from 'pg';
import { recordAct } from '../audit/record-act.ts';
import { noteEverythingChanged } from '../changes/change-feed.ts';
import { checkCounts, recount } from '../counts/check-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { EXPORT_TABLES, ExportFileError, type ExportHeader } from './export-format.ts';
import { readExport } from './read-export.ts';
import { type MergedRows, mergeRows, readTableShapes, type TableShape } from './table-rows.ts';

const COUNT_BATCH = 1_000;

/**
 * Takes in an export, all of it in one transaction: rows that are new are added, those that differ are made what the file
 * says, and none is removed. Counts are counted again. Where the file holds upvotes or comments, those of visitors wait meanwhile.
 * `database` must give statements the time they need.
 * @returns what became of the rows of each table. @throws ExportFileError; CoreError `unavailable`.
 */
export async function loadExport(
  database: Database,
  path: string,
  onRows: (count: number) => void = () => {},
): Promise<Record<string, MergedRows>> {
  try {
    return await database.transaction((sql) => load(sql, path, onRows));
  } catch (error) {
    // The file was what it said it was; so a row of it is one that this site cannot hold.
    const isOfRows = error instanceof pg.DatabaseError && /^(?:22|23)/.test(error.code ?? '');
    if (!isOfRows) throw error;
    const details = error.detail === undefined ? '' : ` (${error.detail})`;
    throw new ExportFileError(`${path}: ${error.message}${details}. Nothing was imported.`, { cause: error });
  }
}

async function load(sql: Sql, path: string, onRows: (count: number) => void): Promise<Record<string, MergedRows>> {
  const merged: Record<string, MergedRows> = {};
  const shapes = new Map<string, TableShape>();
  let done = 0;
  for await (const piece of readExport(path)) {
    if (piece.kind === 'header') {
      for (const shape of await shapesFor(sql, path, piece.header)) {
        shapes.set(shape.name, shape);
        merged[shape.name] = { created: 0, updated: 0, unchanged: 0 };
      }
      if (shapes.has('upvotes') || shapes.has('comments')) await holdWriters(sql);
      continue;
    }
    const [shape, sum] = [shapes.get(piece.table), merged[piece.table]];
    if (shape === undefined || sum === undefined)
      throw new ExportFileError(`${path}: ${piece.table} is not announced.`);
    const { created, updated, unchanged } = await mergeRows(sql, shape, piece.lines);
    sum.created += created;
    sum.updated += updated;
    sum.unchanged += unchanged;
    done += piece.lines.length;
    onRows(done);
  }
  const hasChanged = Object.values(merged).some(({ created, updated }) => created + updated > 0);
  if (hasChanged) {
    await setCountsRight(sql);
    await recordAct(sql, { act: 'import', subject: basename(path), details: merged });
    await noteEverythingChanged(sql);
  }
  return merged;
}

/** @throws ExportFileError where the file holds a column that this site's schema has not. */
async function shapesFor(sql: Sql, path: string, header: ExportHeader): Promise<TableShape[]> {
  const present = await readTableShapes(sql, EXPORT_TABLES);
  return header.tables.map(({ name, columns }) => {
    const shape = present.find((each) => each.name === name);
    const unknown = columns.find((column) => !shape?.columns.includes(column));
    const missing = shape?.key.find((column) => !columns.includes(column));
    if (shape === undefined || unknown !== undefined || missing !== undefined) {
      const what = unknown === undefined ? `no column ${missing} of ${name}` : `a column ${unknown} of ${name}`;
      throw new ExportFileError(`${path}: It holds ${what}, and so is not of this version. Nothing was imported.`);
    }
    return { ...shape, columns };
  });
}

/** Whoever counts an upvote or a comment waits here, instead of crosswise further on. */
async function holdWriters(sql: Sql): Promise<void> {
  await sql.query('LOCK TABLE product_counts IN EXCLUSIVE MODE');
}

/** Of every product, since any of them may have got its first row. */
async function setCountsRight(sql: Sql): Promise<void> {
  for (let after: string | null = ''; after !== null; ) {
    const { wrong, next } = await checkCounts(sql, { after, limit: COUNT_BATCH });
    await recount(
      sql,
      wrong.map(({ productId }) => productId),
    );
    after = next;
  }
}
