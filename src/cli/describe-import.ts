import type { ImportReport } from '../core/imports/import-products.ts';
import type { FieldChange, Sampled } from '../core/imports/product-changes.ts';
import { oneLine } from './one-line.ts';

/** Things that are named on a terminal; there are more in the JSON. */
const MOST_SHOWN = 20;
const MOST_VALUE_CHARACTERS = 60;

/** What an import did, or would do, as other programs read it: lists hold the first hundred, and counts count all. */
export function importAsJson(report: ImportReport, dryRun: boolean): object {
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

/** The same for a person. */
export function describeImport(report: ImportReport, dryRun: boolean): string {
  const { created, updated, unchanged } = report;
  const counts = `${number(created.count)} created, ${number(updated.count)} updated, ${number(unchanged)} unchanged`;
  const lines = dryRun
    ? [...describeDifference(report), `Nothing was changed. It would be: ${counts}.`]
    : [`${counts}.`];
  return [...lines, ...describeOddities(report)].join('\n');
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

function describeOddities(report: ImportReport): string[] {
  const { repeatedIds, duplicates, ignoredColumns, ignoredCounts, localPictures, picturesCopied } = report;
  const lines: string[] = [];
  if (picturesCopied > 0) lines.push(`${number(picturesCopied)} pictures are on the site.`);
  for (const { id, line } of repeatedIds.slice(0, MOST_SHOWN)) {
    lines.push(`Line ${line} does not count: ${id} comes again further down.`);
  }
  if (repeatedIds.length > MOST_SHOWN) lines.push(`… and ${number(repeatedIds.length - MOST_SHOWN)} more such lines.`);
  lines.push(
    ...listed(duplicates, ({ id, name, line, of }) => [
      `Possible duplicate: ${id} (line ${line}) has the name of ${of}, ${oneLine(name)}.`,
    ]),
  );
  if (ignoredColumns.length > 0) {
    const names = ignoredColumns.map((name) => `'${oneLine(name)}'`).join(', ');
    lines.push(`Not imported, since a product has no such field: ${names}. --map says which column is which field.`);
  }
  if (ignoredCounts.length > 0) {
    lines.push(`Not imported, since counts are made by visitors alone: ${ignoredCounts.join(', ')}.`);
  }
  if (localPictures > 0) {
    lines.push(
      `${number(localPictures)} pictures are neither on the web nor on the site: --images copies them from a folder.`,
    );
  }
  return lines;
}

function listed<Item>({ first, count }: Sampled<Item>, describe: (item: Item) => string[]): string[] {
  const lines = first.slice(0, MOST_SHOWN).flatMap(describe);
  return count > MOST_SHOWN ? [...lines, `… and ${number(count - MOST_SHOWN)} more.`] : lines;
}

function shown(value: unknown): string {
  const text = oneLine(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length > MOST_VALUE_CHARACTERS ? `${text.slice(0, MOST_VALUE_CHARACTERS)}…` : text;
}

function number(count: number): string {
  return count.toLocaleString('en');
}
