import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { deleteOldImportChanges, ImportChanges } from '../imports/import-changes.ts';
import { removeProducts } from '../products/remove-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { DAY_MS } from '../runtime.ts';
import { deleteUnreferencedPictures, PICTURE_GRACE_MS } from './delete-unreferenced.ts';
import { type PictureKind, pictureAddress, pictureName, storePicture } from './picture-store.ts';

let database: TestDatabase;
let folder: string;
let now: Date;

beforeEach(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'groundswell-unreferenced-'));
  now = new Date();
});
afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

/** Stores a picture that was last used `ageMs` ago. @returns its name. */
async function store(content: string, ageMs = 2 * PICTURE_GRACE_MS, kind: PictureKind = 'webp'): Promise<string> {
  const name = pictureName(Buffer.from(content), kind);
  await storePicture(folder, name, Buffer.from(content));
  await age(name, ageMs);
  return name;
}

const age = (name: string, ms: number) => {
  const time = new Date(now.getTime() - ms);
  return utimes(join(folder, name), time, time);
};
const saveWithImage = (name: string, id = 'git') =>
  saveProducts(database, [buildProduct({ id, image: pictureAddress(name) })]);
const remaining = async () => (await readdir(folder)).sort();
const deletePictures = () => deleteUnreferencedPictures(database, folder, now);

test('pictures that no row references are deleted after a day', async () => {
  const [used, old, fresh] = [await store('used'), await store('old'), await store('fresh', PICTURE_GRACE_MS - 60_000)];
  await saveWithImage(used);
  expect(await deletePictures()).toEqual([old]);
  expect(await remaining()).toEqual([used, fresh].sort());
  expect(await deletePictures()).toEqual([]);
});

test('pictures of products, team members, removed products, submissions and recent audit entries are not deleted', async () => {
  const names = await Promise.all(
    ['image', 'first', 'second', 'avatar', 'removed', 'submitted', 'approved', 'undone', 'audited'].map((each) =>
      store(each),
    ),
  );
  const [image = '', first = '', second = '', avatar = '', removed = '', submitted = '', approved = '', undone = ''] =
    names.map(pictureAddress);
  await saveProducts(database, [
    buildProduct({
      image,
      screenshots: [first, second],
      team: [{ name: 'A', role: '', avatar }],
    }),
    buildProduct({ id: 'gone', image: removed }),
  ]);
  await removeProducts(database, ['gone']);
  await database.query(
    `INSERT INTO submissions (id, status, fields, approved_fields, undo, key_hashes, created_at, updated_at, waiting_since)
      VALUES ('new', 'waiting', $1::jsonb, $2::jsonb, $3::jsonb, '{}', now(), now(), now())`,
    [submitted, approved, undone].map((address) => JSON.stringify({ image: address })),
  );
  await recordAudit(database, { action: 'import', target: 'git', details: { before: pictureAddress(names[8] ?? '') } });
  expect(await deletePictures()).toEqual([]);
  await database.query("UPDATE audit_log SET created_at = created_at - interval '31 days' WHERE action = 'import'");
  for (const name of names) await age(name, 2 * PICTURE_GRACE_MS);
  expect(await deletePictures()).toEqual([names[8]]);
});

test('pictures that an import replaced are retained while the import can be undone', async () => {
  const used = await store('used');
  const [image, screenshot] = [await store('image'), await store('screenshot')];
  const before = buildProduct({ image: pictureAddress(image), screenshots: [pictureAddress(screenshot)] });
  const after = buildProduct({ image: pictureAddress(used) });
  await saveProducts(database, [after]);
  const changes = new ImportChanges(randomUUID(), now);
  changes.add(before, after);
  await changes.save(database);
  expect(await deletePictures()).toEqual([]);
  now = new Date(now.getTime() + 31 * DAY_MS);
  await deleteOldImportChanges(database, now);
  expect((await deletePictures()).sort()).toEqual([image, screenshot].sort());
});

test('a product whose PNG image precedes a screenshot on another site keeps its image', async () => {
  const image = await store('image', 2 * PICTURE_GRACE_MS, 'png');
  await saveProducts(database, [
    buildProduct({ image: pictureAddress(image), screenshots: ['https://cdn.example/1.png'] }),
    buildProduct({ id: 'git', image: pictureAddress(await store('other')) }),
  ]);
  expect(await deletePictures()).toEqual([]);
});

test('a replaced picture is retained for another day', async () => {
  const [before, after] = [await store('before', 100 * DAY_MS), await store('after', 0)];
  await saveWithImage(before);
  await deletePictures();
  await saveWithImage(after);
  expect(await deletePictures()).toEqual([]);
  now = new Date(now.getTime() + PICTURE_GRACE_MS + DAY_MS);
  expect(await deletePictures()).toEqual([before]);
});

test('a picture that is stored again counts as new', async () => {
  await saveWithImage(await store('used'));
  const again = await store('again');
  await storePicture(folder, again, Buffer.from('again'));
  expect(await deletePictures()).toEqual([]);
});

test('unfinished files are deleted after an hour, and files with other names are left unchanged', async () => {
  const name = pictureName(Buffer.from('a'), 'webp');
  const unfinished = `.${name}.2f1c1a7e-5d57-4a5e-9a39-0d6e0c9a7b11`;
  const unfinishedNow = `.${name}.2f1c1a7e-5d57-4a5e-9a39-0d6e0c9a7b12`;
  for (const each of [unfinished, unfinishedNow, 'notes.txt', '.gitkeep']) await writeFile(join(folder, each), '');
  for (const each of [unfinished, 'notes.txt', '.gitkeep']) await age(each, 2 * 60 * 60 * 1_000);
  await deletePictures();
  expect(await remaining()).toEqual([unfinishedNow, '.gitkeep', 'notes.txt'].sort());
});

test('a picture that a killed process had renamed in order to delete it is restored after an hour', async () => {
  const name = await store('used again', 2 * 60 * 60 * 1_000);
  await saveWithImage(name);
  await rename(join(folder, name), join(folder, `.${name}.2f1c1a7e-5d57-4a5e-9a39-0d6e0c9a7b11`));
  await deletePictures();
  expect(await remaining()).toEqual([name]);
});

test('no picture is deleted if the database references none of them', async () => {
  const names = [await store('a'), await store('b')];
  await saveWithImage(pictureName(Buffer.from('elsewhere'), 'webp'));
  expect(await deletePictures()).toEqual([]);
  expect(await remaining()).toEqual(names.sort());
});

test('concurrent deletions in a shared folder delete each unreferenced picture once', async () => {
  await saveWithImage(await store('used'));
  const olds = await Promise.all(Array.from({ length: 20 }, (_, index) => store(`old ${index}`)));
  const deleted = await Promise.all([deletePictures(), deletePictures(), deletePictures()]);
  expect(deleted.flat().sort()).toEqual(olds.sort());
  expect(await remaining()).toHaveLength(1);
});

test('a file that cannot be deleted does not stop the deletion of others, and is reported', async () => {
  await saveWithImage(await store('used'));
  const name = (content: string) => pictureName(Buffer.from(content), 'webp');
  const contents = Array.from({ length: 20 }, (_, index) => `old ${index}`);
  // A folder with the name of a picture cannot be deleted as a file.
  const [blocked = ''] = contents.map(name).sort();
  await mkdir(join(folder, blocked));
  await age(blocked, 2 * PICTURE_GRACE_MS);
  for (const content of contents) if (name(content) !== blocked) await store(content);
  await expect(deletePictures()).rejects.toThrow(/EISDIR|directory/);
  const pictures = async () => (await remaining()).filter((each) => !each.startsWith('.'));
  expect(await pictures()).toEqual([name('used')]);
  // The folder now has the name of a temporary file.
  await store('later');
  await expect(deletePictures()).rejects.toThrow(/EISDIR|directory/);
  expect(await pictures()).toEqual([name('used')]);
});

test('a site without a picture folder deletes no pictures', async () => {
  expect(await deleteUnreferencedPictures(database, join(folder, 'missing'), now)).toEqual([]);
});
