import { isDeepStrictEqual } from 'node:util';
import type { StoredProduct } from '../products/complete-product.ts';
import { IMPORT_FIELDS, type ImportField } from './fields.ts';

/** A field that an import changes, or would. */
export interface FieldChange {
  field: ImportField;
  before: StoredProduct[ImportField];
  after: StoredProduct[ImportField];
}

/** What differs between a product as it is and as it is to be, in the order of the fields. */
export function changesBetween(before: StoredProduct, after: StoredProduct): FieldChange[] {
  return IMPORT_FIELDS.filter((field) => !isDeepStrictEqual(before[field], after[field])).map((field) => ({
    field,
    before: before[field],
    after: after[field],
  }));
}

/** Things are named up to here, and then only counted: a report is to be read. */
const MOST_NAMED = 100;

/** The first of many, and how many there are. */
export class Sampled<Item> {
  readonly first: Item[] = [];
  count = 0;

  add(item: Item): void {
    this.count += 1;
    if (this.first.length < MOST_NAMED) this.first.push(item);
  }
}
