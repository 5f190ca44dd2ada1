import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type {
  AuditRecord,
  ConsolePage,
  EditedProduct,
  ProductDetails,
  RemovedProductRecord,
} from '../../src/contract/console/records.ts';
import { fieldOf } from '../../src/contract/products/fields.ts';
import type { Product } from '../../src/contract/products/schema.ts';
import { pictureAddress, pictureName, storePicture } from '../../src/core/pictures/picture-store.ts';
import { addOperator, type TestOperator } from '../support/operator.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
let ada: TestOperator;
let grace: TestOperator;
let imagesDir: string;

beforeAll(async () => {
  imagesDir = await mkdtemp(join(tmpdir(), 'groundswell-images-'));
  site = await startTestSite({ imagesDir });
  ada = await addOperator(site);
  grace = await addOperator(site, 'grace');
});
afterAll(async () => {
  await site.close();
  await rm(imagesDir, { recursive: true });
});

const details = (id: string) => ada.json<ProductDetails>('GET', `/products/${id}`);

test('products can be listed by state, searched, and paged by keyset', async () => {
  const tag = `tag-${randomUUID().slice(0, 8)}`;
  const future = new Date(Date.now() + 3_600_000).toISOString();
  const launched = await site.addProduct({ name: 'Launched', tags: [tag] });
  const scheduled = await site.addProduct({ name: 'Scheduled', tags: [tag], createdAt: future });
  const ids = async (query: string) =>
    (await ada.json<ConsolePage<Product>>('GET', `/products?tag=${tag}&${query}`)).items.map(({ id }) => id);
  expect(await ids('')).toEqual([scheduled.id, launched.id]);
  expect(await ids('state=launched')).toEqual([launched.id]);
  expect(await ids('state=scheduled')).toEqual([scheduled.id]);
  expect(await ids('q=launch')).toEqual([launched.id]);
  const { nextCursor } = await ada.json<ConsolePage<Product>>('GET', '/products?limit=1');
  expect((await ada.json<ConsolePage<Product>>('GET', `/products?limit=1&cursor=${nextCursor}`)).items).toHaveLength(1);
});

test('the list of products combines a category with other filters and sort orders, across pages', async () => {
  const tag = `tag-${randomUUID().slice(0, 8)}`;
  const category = `Kind-${randomUUID().slice(0, 8)}`;
  for (const name of ['beta', 'Alpha', 'gamma']) await site.addProduct({ name, category, tags: [tag] });
  await site.addProduct({ name: 'Aardvark', tags: [tag] });
  const page = (query: string) => ada.json<ConsolePage<Product>>('GET', `/products?tag=${tag}&${query}`);
  const names = async (query: string) => (await page(query)).items.map(({ name }) => name);
  expect(await names('sort=name')).toEqual(['Aardvark', 'Alpha', 'beta', 'gamma']);
  expect(await names(`category=${category.toUpperCase()}&sort=name&state=launched`)).toEqual([
    'Alpha',
    'beta',
    'gamma',
  ]);
  expect(await names(`category=${category}&q=BET`)).toEqual(['beta']);
  for (const sort of ['name', 'newest', 'top', 'discussed']) {
    const query = `category=${category}&sort=${sort}&limit=2`;
    const { items, nextCursor } = await page(query);
    const rest = await page(`${query}&cursor=${nextCursor}`);
    expect(new Set([...items, ...rest.items].map(({ name }) => name)), sort).toEqual(
      new Set(['beta', 'Alpha', 'gamma']),
    );
    expect(rest.nextCursor).toBeNull();
  }
  const { categories } = await ada.json<{ categories: string[] }>('GET', '/categories');
  expect(categories).toContain(category);
  expect(new Set(categories.map((each) => each.toLowerCase())).size).toBe(categories.length);
});

test('products of the longest possible category can be listed', async () => {
  const category = `${'Long category '.repeat(21)}Length`;
  expect(category).toHaveLength(fieldOf('category').maxCharacters);
  const { id } = await site.addProduct({ category });
  const { items } = await ada.json<ConsolePage<Product>>('GET', `/products?category=${encodeURIComponent(category)}`);
  expect(items.map((product) => product.id)).toEqual([id]);
});

test('an edit that is based on an outdated version is refused, and the response has the current version', async () => {
  const { id } = await site.addProduct({ name: 'Tide', maker: 'Moon' });
  const [hers, his] = [await details(id), await details(id)];
  const edit = (operator: TestOperator, version: string, values: object) =>
    operator.ask('PATCH', `/products/${id}`, { version, values });
  const saved = (await edit(ada, hers.version, { name: 'High tide', tags: ['Sea', 'Moon'] })).json();
  expect(saved.product).toMatchObject({ name: 'High tide', tags: ['Sea', 'Moon'], maker: 'Moon' });
  const refused = await edit(grace, his.version, { name: 'Low tide' });
  expect(refused.json()).toMatchObject({ status: 409, code: 'product_changed', current: { name: 'High tide' } });
  expect((await edit(grace, saved.version, { name: 'Low tide' })).statusCode).toBe(200);
  expect((await site.ask.json<{ product: Product }>(`/api/products/${id}`)).product.name).toBe('Low tide');
  // The second edit changed the same field, so the first cannot be undone before the second.
  const entries = (await ada.json<ConsolePage<AuditRecord>>('GET', `/audit?target=${id}`)).items;
  const [second, first] = entries as [AuditRecord, AuditRecord];
  expect(second.details).toEqual({ name: 'Low tide', before: { name: 'High tide' }, after: { name: 'Low tide' } });
  expect((await ada.undo(first)).json()).toMatchObject({ code: 'not_undoable' });
  for (const entry of [second, first]) expect((await ada.undo(entry)).statusCode).toBe(200);
  expect((await details(id)).product).toMatchObject({ name: 'Tide', tags: [] });
});

test('an edit of only the launch time also changes the launch date if that was the day of the launch, and undo restores both', async () => {
  const before = { createdAt: '2026-06-01T12:00:00.000Z', launchDate: 'June 1, 2026' };
  const edited = async (launchDate: string, values: object) => {
    const { id } = await site.addProduct({ ...before, launchDate });
    const { version } = await details(id);
    return ada.json<EditedProduct>('PATCH', `/products/${id}`, { version, values });
  };
  const createdAt = '2026-06-03T12:00:00.000Z';
  expect((await edited('Summer 2026', { createdAt })).product).toMatchObject({ createdAt, launchDate: 'Summer 2026' });
  const chosen = { createdAt, launchDate: 'June 2026' };
  expect((await edited(before.launchDate, chosen)).product).toMatchObject(chosen);
  const { product, auditId } = await edited(before.launchDate, { createdAt });
  expect(product).toMatchObject({ createdAt, launchDate: 'June 3, 2026' });
  expect((await ada.ask('POST', `/audit/${auditId}/undo`)).statusCode).toBe(200);
  expect((await details(product.id)).product).toMatchObject(before);
});

test('undoing an edit by the audit id in its response restores the exact time and tags, unless a later edit changed the same field', async () => {
  const before = { createdAt: '2026-06-01T12:34:56.789Z', tags: ['C, C++', 'Sea'] };
  const { id } = await site.addProduct(before);
  const edit = async (operator: TestOperator, values: object) =>
    operator.json<EditedProduct>('PATCH', `/products/${id}`, { version: (await details(id)).version, values });
  const hers = await edit(ada, { createdAt: '2026-06-02T09:00Z', tags: ['Sea'] });
  const his = await edit(grace, { tags: ['Moon'] });
  const undo = ({ auditId }: EditedProduct) => ada.ask('POST', `/audit/${auditId}/undo`);
  expect((await undo(hers)).json()).toMatchObject({ code: 'not_undoable' });
  for (const each of [his, hers]) expect((await undo(each)).statusCode).toBe(200);
  expect((await details(id)).product).toMatchObject(before);
  expect((await edit(ada, { tags: before.tags })).auditId).toBeNull();
});

test('after 30 days, an edit can be undone only if it replaced no uploaded picture, because that may have been deleted', async () => {
  const image = `/images/${'0'.repeat(40)}.webp`;
  const screenshots = ['https://cdn.example/images/tide.png'];
  const { id } = await site.addProduct({ name: 'Tide', image, screenshots });
  const edit = async (values: object) =>
    ada.json<EditedProduct>('PATCH', `/products/${id}`, { version: (await details(id)).version, values });
  const edits = [await edit({ name: 'Ebb', screenshots: [] }), await edit({ image: '/pictures/placeholder.svg' })];
  await site.database.query(
    "UPDATE audit_log SET created_at = created_at - interval '30 days' WHERE id = ANY($1::uuid[])",
    [edits.map(({ auditId }) => auditId)],
  );
  const undone = edits.map(({ auditId }) => ada.ask('POST', `/audit/${auditId}/undo`));
  expect((await Promise.all(undone)).map((response) => response.json().detail)).toEqual([
    undefined,
    'An edit that replaced pictures can be undone for 30 days.',
  ]);
  expect((await details(id)).product).toMatchObject({ name: 'Tide', screenshots, image: '/pictures/placeholder.svg' });
});

test('an edit with an upload that has been deleted since is refused, and other uploads are protected from deletion', async () => {
  const [earlier, deleted] = ['0', '1'].map((digit) => pictureAddress(`${digit.repeat(40)}.webp`));
  const content = Buffer.from('An uploaded picture');
  const name = pictureName(content, 'webp');
  await storePicture(imagesDir, name, content);
  await utimes(join(imagesDir, name), 0, 0);
  const { id } = await site.addProduct({ screenshots: [earlier ?? ''] });
  const { version } = await details(id);
  const edit = (values: object) => ada.ask('PATCH', `/products/${id}`, { version, values });
  const screenshots = [earlier, 'https://cdn.example/images/tide.png', pictureAddress(name)];
  const refused = await edit({ image: deleted, screenshots, team: [{ name: 'Ada', avatar: deleted }] });
  const detail = 'The uploaded picture has expired. Upload it again.';
  expect(refused.json()).toMatchObject({ status: 422, code: 'product_invalid' });
  expect(refused.json().errors).toEqual(['image', 'team'].map((field) => ({ field, detail })));
  expect((await edit({ screenshots })).statusCode).toBe(200);
  expect((await stat(join(imagesDir, name))).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
});

test('invalid fields are refused, and the response names all of them', async () => {
  const { id } = await site.addProduct();
  const { version } = await details(id);
  const values = {
    name: 'x'.repeat(301),
    image: 'javascript:alert(1)',
    screenshots: ['shot.png'],
    team: [{ name: 'Ada', avatar: 'ada.png' }],
    createdAt: '2026-02-30',
    tags: 7,
    nonsense: 1,
    id: 'other',
  };
  const response = await ada.ask('PATCH', `/products/${id}`, { version, values });
  expect(response.json()).toMatchObject({ status: 422, code: 'product_invalid' });
  const fields = response.json().errors.map(({ field }: { field: string }) => field);
  expect(fields.sort()).toEqual(['createdAt', 'id', 'image', 'name', 'nonsense', 'screenshots', 'tags', 'team']);
});

test('an edit with an empty launch time is refused, and the product keeps its launch time', async () => {
  const createdAt = new Date(Date.now() + 3_600_000).toISOString();
  const { id } = await site.addProduct({ name: 'Tide', createdAt });
  const { version } = await details(id);
  for (const blank of [{ createdAt: '' }, { createdAt: null }, { created_at: ' ' }]) {
    const response = await ada.ask('PATCH', `/products/${id}`, { version, values: { name: 'Ebb', ...blank } });
    expect(response.json()).toMatchObject({
      status: 422,
      code: 'product_invalid',
      errors: [{ field: 'createdAt', detail: 'Enter a time, such as 2026-12-01T09:00:00Z.' }],
    });
  }
  expect(await details(id)).toMatchObject({ version, product: { name: 'Tide', createdAt } });
});

const remove = async (...ids: string[]) =>
  (await ada.json<{ removed: RemovedProductRecord[] }>('POST', '/products/remove', { ids, reason: 'Spam' })).removed;
const restore = (...removals: (RemovedProductRecord | undefined)[]) =>
  ada.ask('POST', '/products/restore', { removalIds: removals.map((removal) => removal?.removalId) });

test('products are removed with a reason, and restored completely by undo or by the id of the removal', async () => {
  const { id } = await site.addProduct({ name: 'Spam' });
  await site.core.addComment({ productId: id, content: 'Mine' }, { session: `session-${randomUUID()}` });
  await remove(id);
  expect((await ada.ask('GET', `/products/${id}`)).json()).toMatchObject({ code: 'product_not_found' });
  expect((await ada.undo(await ada.lastEntry())).statusCode).toBe(200);
  expect((await details(id)).product.comments).toBe(1);
  const [removal] = await remove(id);
  expect((await restore(removal)).statusCode).toBe(200);
  expect((await restore(removal)).json()).toMatchObject({ code: 'not_undoable' });
});

test('the undo of a restoration removes the product again for the original reason', async () => {
  const { id } = await site.addProduct();
  await restore(...(await remove(id)));
  expect((await ada.undo(await ada.lastEntry())).statusCode).toBe(200);
  expect(await ada.lastEntry()).toMatchObject({ action: 'products remove', details: { reason: 'Spam' } });
  const { items } = await ada.json<ConsolePage<RemovedProductRecord>>('GET', '/removed-products');
  expect(items).toContainEqual(expect.objectContaining({ id, reason: 'Spam' }));
});

test('a removal skips products that another operator has removed, and the response names them', async () => {
  const [gone, present] = [await site.addProduct(), await site.addProduct()];
  const removal = () => ada.json('POST', '/products/remove', { ids: [gone.id, present.id] });
  await grace.json('POST', '/products/remove', { ids: [gone.id] });
  expect(await removal()).toMatchObject({ removed: [{ id: present.id }], skipped: [gone.id] });
  expect(await ada.lastEntry()).toMatchObject({ action: 'products remove', operator: 'ada', target: present.id });
  expect(await removal()).toEqual({ removed: [], skipped: [gone.id, present.id] });
});

test('a restoration cannot be undone after a later removal, because another product may have the id', async () => {
  const { id } = await site.addProduct({ name: 'Loved' });
  const [removal] = await remove(id);
  await restore(removal);
  const restoration = await ada.lastEntry();
  await remove(id);
  await site.addProduct({ id, name: 'Successor' });
  expect((await ada.undo(restoration)).json()).toMatchObject({
    code: 'not_undoable',
    detail: 'The product was removed again later.',
  });
  expect((await details(id)).product.name).toBe('Successor');
});

test('only one of several removals of the same id can be restored at a time', async () => {
  const { id } = await site.addProduct({ name: 'Loved' });
  const [older] = await remove(id);
  await site.addProduct({ id, name: 'Spam' });
  const [newer] = await remove(id);
  expect((await restore(older, newer)).json()).toMatchObject({ code: 'id_taken' });
  expect((await restore(older)).statusCode).toBe(200);
  expect((await restore(newer)).json()).toMatchObject({ code: 'id_taken' });
  expect((await details(id)).product.name).toBe('Loved');
});

test('the audit log can be filtered by a range of days, which includes both ends', async () => {
  const target = randomUUID();
  for (const day of ['2026-03-01T00:00:00.000Z', '2026-03-02T23:59:59.999Z', '2026-03-03T00:00:00.000Z'])
    await site.database.query(
      "INSERT INTO audit_log (id, created_at, operator, action, target, details) VALUES ($1, $2, 'ada', 'backup', $3, '{}')",
      [randomUUID(), day, target],
    );
  const days = async (query: string) =>
    (await ada.json<ConsolePage<AuditRecord>>('GET', `/audit?target=${target}&${query}`)).items.map(({ createdAt }) =>
      createdAt.slice(8, 10),
    );
  expect(await days('')).toEqual(['03', '02', '01']);
  expect(await days('from=2026-03-02&to=2026-03-02')).toEqual(['02']);
  expect(await days('to=2026-03-02')).toEqual(['02', '01']);
  for (const from of ['2026-02-30', '0000-01-01', '2026-3-1', 'x'])
    expect((await ada.ask('GET', `/audit?from=${from}`)).json()).toMatchObject({ status: 400 });
});
