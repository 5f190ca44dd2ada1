import { FOLDERS } from '../../contract/paths/folders.ts';
import type { FieldError } from '../../contract/problem.ts';
import type { Product, StoredProduct } from '../../contract/products/schema.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { recordChange } from '../changes/change-feed.ts';
import { CoreError, productNotFound } from '../core-error.ts';
import type { Database } from '../database/database.ts';
import { transactionWithRetries } from '../database/transactions.ts';
import { FileColumns } from '../imports/columns.ts';
import { changesBetween, editEntry } from '../imports/import-changes.ts';
import { isLocalPicture, readProduct } from '../imports/read-product.ts';
import type { SourceValues } from '../imports/source-record.ts';
import { PICTURE_NAME, touchPicture } from '../pictures/picture-store.ts';
import { orderedUuid } from '../runtime.ts';
import type { LaunchRules } from '../submissions/launch-product.ts';
import { lockProduct } from './product-row.ts';
import {
  completeProduct,
  findUnschedulable,
  scheduledResultReason,
  versionOf,
  withLaunchTime,
  writeProducts,
} from './save-products.ts';

interface ProductEdit {
  /** New values by field, parsed as in an import. A blank value sets the default, but a time cannot be blank. */
  values: SourceValues;
  /** The version on which the edit is based. If it is set, the edit fails if the product has changed since. */
  version?: string | undefined;
  /** The folder of the site's own pictures. If it is set, an edit that adds a deleted picture fails. */
  pictureFolder?: string | undefined;
}

/**
 * Changes fields of a product and adds an entry to the audit log. Does nothing if no value differs. Reads `rules.now`
 * after the product has been locked, because the product may launch while this operation waits. `rules.timeZone`
 * defaults to UTC.
 * @returns the product, and the id of the entry or, if no value differs, null.
 * @throws CoreError `product_not_found`, `product_invalid` with all errors, `product_changed` with the current product.
 */
export async function editProduct(
  database: Database,
  id: string,
  edit: ProductEdit,
  rules: Pick<LaunchRules, 'now'> & Partial<LaunchRules>,
): Promise<{ product: Product; auditId: string | null }> {
  const patch = readValues(edit.values);
  return transactionWithRetries(database, async (sql) => {
    const before = await lockProduct(sql, id);
    if (before === undefined) throw productNotFound();
    if (edit.version !== undefined && edit.version !== versionOf(before))
      throw new CoreError('product_changed', `'${before.name}' was changed in the meantime. Reload it and try again.`, {
        current: before,
      });
    const launchAt = new Date(patch.createdAt ?? before.createdAt);
    const relaunched = withLaunchTime(withoutCounts(before), launchAt, rules.timeZone ?? 'UTC');
    const after = completeProduct({ ...relaunched, ...patch, id }, rules.now);
    if (changesBetween(withoutCounts(before), after).length === 0) return { product: before, auditId: null };
    if (edit.pictureFolder !== undefined) await requirePictures(edit.pictureFolder, before, after);
    const auditId = orderedUuid();
    await writeProducts(sql, [after]);
    const moved = after.createdAt === before.createdAt ? [] : [after];
    if ((await findUnschedulable(sql, moved)).length > 0)
      throw invalidProduct([{ field: 'createdAt', detail: sentence(scheduledResultReason(id)) }]);
    await recordAudit(sql, { id: auditId, ...editEntry(withoutCounts(before), after, rules.now) });
    await recordChange(sql, { productIds: [id], catalogue: true });
    return { product: { ...before, ...after }, auditId };
  });
}

/** Reads the values of an edit. @throws CoreError `product_invalid` if a value is invalid or a field cannot be set. */
function readValues(values: SourceValues): Partial<StoredProduct> {
  const errors: FieldError[] = [];
  const columns = new FileColumns(new Map());
  const {
    id,
    rawId: _rawId,
    ...patch
  } = readProduct(values, {
    columns,
    slugifyIds: false,
    separator: ',',
    onError: (field, reason) => errors.push({ field, detail: sentence(reason) }),
  });
  if (id !== undefined) errors.push({ field: 'id', detail: 'The id of a product cannot be changed.' });
  for (const [field, addresses] of Object.entries(picturesOf(patch))) {
    const local = addresses.find(isLocalPicture);
    if (local !== undefined)
      errors.push({
        field,
        detail: `'${local}' is not a URL. Use an http or https URL, or a path that begins with /.`,
      });
  }
  for (const [field, value] of Object.entries(patch)) {
    // A blank time would default to the current time, which would launch a scheduled product.
    if (value === undefined) errors.push({ field, detail: 'Enter a time, such as 2026-12-01T09:00:00Z.' });
  }
  const names = new Set<string>([...columns.pairs()].map(([, column]) => column));
  for (const name of Object.keys(values)) {
    if (!names.has(name)) errors.push({ field: name, detail: 'This field cannot be set.' });
  }
  if (errors.length > 0) throw invalidProduct(errors);
  return patch as Partial<StoredProduct>;
}

type Pictures = Pick<StoredProduct, 'image' | 'screenshots' | 'team'>;

function picturesOf({
  image = '',
  screenshots = [],
  team = [],
}: { [Name in keyof Pictures]?: Pictures[Name] | undefined }) {
  return { image: [image], screenshots, team: team.map(({ avatar }) => avatar) };
}

/**
 * Checks that the uploads that an edit adds still exist, because unreferenced uploads are deleted after about a day.
 * @throws CoreError `product_invalid`.
 */
async function requirePictures(folder: string, before: StoredProduct, after: StoredProduct): Promise<void> {
  const referenced = new Set(Object.values(picturesOf(before)).flat());
  const errors: FieldError[] = [];
  for (const [field, addresses] of Object.entries(picturesOf(after))) {
    for (const address of addresses) {
      const name = address.slice(FOLDERS.images.length);
      const isStored = address.startsWith(FOLDERS.images) && PICTURE_NAME.test(name);
      if (isStored && !referenced.has(address) && !(await touchPicture(folder, name)))
        errors.push({ field, detail: 'The uploaded picture has expired. Upload it again.' });
    }
  }
  if (errors.length > 0) throw invalidProduct(errors);
}

function invalidProduct(fields: FieldError[]): CoreError {
  const message = fields.map(({ field, detail }) => `${field}: ${detail}`).join(' ');
  return new CoreError('product_invalid', message, { fields });
}

function sentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}

function withoutCounts({ upvotes: _upvotes, comments: _comments, ...product }: Product): StoredProduct {
  return product;
}
