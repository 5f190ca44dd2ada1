import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type AuditRecord,
  type ConsolePage,
  IMPORT_HEARTBEAT_MS,
  type ImportEvent,
  type ProductDetails,
} from '../../src/contract/console/records.ts';
import { revokeOperator } from '../../src/core/console/operators.ts';
import { blockedStatements } from '../support/blocked-statements.ts';
import { createLogLines } from '../support/log-lines.ts';
import { addOperator, type TestOperator } from '../support/operator.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';
import { loseCommitResponseOnce } from '../support/unconfirmed-commit.ts';

let site: TestSite;
let ada: TestOperator;

beforeAll(async () => {
  site = await startTestSite();
  ada = await addOperator(site);
});
afterAll(() => site.close());

test('an export and a backup can be downloaded as files, and the backup is in the audit log', async () => {
  const { id } = await site.addProduct({ name: 'Exported, "quoted"' });
  const csv = await ada.ask('GET', '/export?table=products&kind=csv');
  expect(csv.headers['content-disposition']).toMatch(/^attachment; filename="products-\d{8}T\d{4}\.csv"$/);
  expect(csv.body).toContain(`${id},"Exported, ""quoted""",`);
  await site.core.addComment({ productId: id, content: 'A comment' }, { session: `session-${randomUUID()}` });
  const lines = (await ada.ask('GET', '/export?table=comments&kind=json-lines')).body.trimEnd().split('\n');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ productId: id, state: 'public' });
  const backup = await ada.ask('GET', '/backup');
  expect(backup.rawPayload.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
  const entry = await ada.lastEntry();
  expect(entry).toMatchObject({ action: 'backup', operator: 'ada', undoable: false });
  expect((await ada.ask('HEAD', '/backup')).statusCode).toBe(404);
  expect(await ada.lastEntry()).toEqual(entry);
  expect(gunzipSync(backup.rawPayload).toString()).not.toContain('operator_sessions');
});

test('a backup is aborted and not in the audit log if the operator leaves before it is complete', async () => {
  const backups = async () =>
    (await ada.json<ConsolePage<AuditRecord>>('GET', '/audit')).items.filter(({ action }) => action === 'backup')
      .length;
  const before = await backups();
  const address = await site.app.listen({ port: 0, host: '127.0.0.1' });
  const closed = new Promise((resolve) => {
    site.app.server.once('request', (_request, response) => response.once('close', resolve));
  });
  await site.database.transaction(async (sql) => {
    await sql.query('LOCK TABLE products IN ACCESS EXCLUSIVE MODE');
    const leaving = new AbortController();
    const download = fetch(`${address}/api/console/backup`, {
      headers: { cookie: ada.cookie, 'sec-fetch-site': 'same-origin' },
      signal: leaving.signal,
    });
    await expect
      .poll(async () => (await blockedStatements(site.database)).join())
      .toContain('count(*) AS rows FROM products');
    leaving.abort();
    await expect(download).rejects.toThrow('aborted');
    await closed;
  });
  expect((await ada.ask('GET', '/backup')).statusCode).toBe(200);
  expect(await backups()).toBe(before + 1);
});

describe('Imports', () => {
  test('a file is not imported if access is revoked during its upload', async () => {
    const { cookie } = await addOperator(site, 'grace');
    async function* file() {
      yield 'id,name\n';
      await revokeOperator(site.database, 'grace');
      yield 'too-late,Too late\n';
    }
    const refused = await site.app.inject({
      method: 'POST',
      url: '/api/console/import?name=launches.csv&kind=csv',
      headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/octet-stream' },
      payload: Readable.from(file(), { objectMode: false }),
    });
    expect([refused.statusCode, refused.json().code]).toEqual([401, 'not_signed_in']);
    expect((await site.ask.get('/api/products/too-late')).statusCode).toBe(404);
  });

  async function linesOf(content: string, query: Record<string, string> = {}, operator = ada): Promise<ImportEvent[]> {
    const search = new URLSearchParams({ name: 'launches.csv', kind: 'csv', ...query });
    const response = await operator.ask('POST', `/import?${search}`, Buffer.from(content), {
      'content-type': 'application/octet-stream',
    });
    expect(response.statusCode, response.body).toBe(200);
    return response.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  /** Creates the folder in which the sites store uploads until the end of the test. */
  async function uploadFolder(): Promise<string> {
    const uploads = await mkdtemp(join(tmpdir(), 'groundswell-test-'));
    vi.stubEnv('TMPDIR', uploads);
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await rm(uploads, { recursive: true });
    });
    return uploads;
  }

  const refusesRequests = ({ app }: TestSite) =>
    app.inject('/healthz').then(
      () => false,
      () => true,
    );

  const send = async (...request: Parameters<typeof linesOf>) => (await linesOf(...request)).at(-1);

  test('columns can be mapped, a dry run changes nothing, errors name their line, and an import can be undone', async () => {
    const prefix = `i-${randomUUID().slice(0, 8)}`;
    const before = await site.addProduct({ id: `${prefix}-old`, name: 'Old name', maker: 'Moon' });
    const edited = await site.addProduct({ id: `${prefix}-edited`, name: 'Before' });
    const csv = `id,Title\n${prefix}-new,Brand new\n${before.id},New name\n${edited.id},Imported\n`;
    const map = JSON.stringify(['name=Title']);
    expect(await send(`${csv}no id!,Bad\n`, { map })).toMatchObject({
      kind: 'errors',
      count: 1,
      errors: [{ line: 5, field: 'id' }],
    });
    const wanted = { kind: 'done', summary: { created: 1, updated: 2, unchanged: 0, ignoredColumns: [] } };
    expect(await send(csv, { map, dryRun: 'true' })).toMatchObject({
      ...wanted,
      summary: { ...wanted.summary, auditId: null },
    });
    expect((await ada.ask('GET', `/products/${prefix}-new`)).statusCode).toBe(404);
    const imported = await send(csv, { map });
    const entry = await ada.lastEntry();
    expect(imported).toMatchObject({ ...wanted, summary: { ...wanted.summary, auditId: entry.id } });
    expect(entry).toMatchObject({ action: 'import', target: 'launches.csv', operator: 'ada', undoable: true });

    const { version } = await ada.json<ProductDetails>('GET', `/products/${edited.id}`);
    await ada.json('PATCH', `/products/${edited.id}`, { version, values: { name: 'Edited since' } });
    const note = 'Skipped 1 product (changed or final since the import).';
    expect((await ada.undo(entry)).json()).toEqual({ note });
    const { items } = await ada.json<ConsolePage<AuditRecord>>('GET', '/audit?limit=2');
    expect(items.find(({ action }) => action === 'import undo')).toMatchObject({
      undoes: entry.id,
      details: { removed: 1, reverted: 1, skipped: 1 },
    });
    const nameOf = async (id: string) => (await ada.json<ProductDetails>('GET', `/products/${id}`)).product.name;
    expect(await nameOf(before.id)).toBe('Old name');
    expect(await nameOf(edited.id)).toBe('Edited since');
    expect((await ada.ask('GET', `/products/${prefix}-new`)).statusCode).toBe(404);
    expect((await ada.undo(entry)).json()).toMatchObject({ code: 'not_undoable' });
  });

  test('the summary lists the rows that a later row replaces, and counts pictures that are not imported', async () => {
    const id = `i-${randomUUID().slice(0, 8)}`;
    const csv = `id,name,image\n${id},First,\n${id},Second,tide.png\n${id},Last,\n`;
    for (const dryRun of ['true', 'false'])
      expect(await send(csv, { dryRun })).toMatchObject({
        kind: 'done',
        summary: {
          ...{ created: 1, repeatedIds: 2, localPictures: 1 },
          firstRepeated: [
            { id, line: 2 },
            { id, line: 3 },
          ],
        },
      });
    expect((await ada.json<ProductDetails>('GET', `/products/${id}`)).product.name).toBe('Last');
  });

  test('an uploaded file that cannot be deleted after its import is reported in the log', async () => {
    const { log, lines } = createLogLines();
    const logged = await startTestSite({ databaseOf: site, log });
    const uploads = await mkdtemp(join(tmpdir(), 'groundswell-test-'));
    vi.stubEnv('TMPDIR', uploads);
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await logged.close();
      for (const path of [uploads, `${uploads}-moved`]) await rm(path, { recursive: true, force: true });
    });
    const imported = await site.database.transaction(async (sql) => {
      await sql.query('LOCK TABLE products IN ACCESS EXCLUSIVE MODE');
      const sent = send('name\nKept\n', {}, await addOperator(logged, 'lin'));
      await expect.poll(async () => (await blockedStatements(site.database)).join()).toContain('wanted.slug');
      await expect.poll(() => readdir(uploads, { recursive: true })).toContainEqual(expect.stringMatching(/\/upload$/));
      // Replaces the folder with a file, so the uploaded file cannot be deleted at its path.
      await rename(uploads, `${uploads}-moved`);
      await writeFile(uploads, '');
      return { sent };
    });
    expect(await imported.sent).toMatchObject({ kind: 'done', summary: { created: 1 } });
    const message = 'Cannot delete the uploaded file of an import. Delete its folder by hand.';
    await expect.poll(lines).toContainEqual(expect.objectContaining({ msg: message }));
  });

  test('an import that waits repeats its progress, so the browser can detect a dead connection', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { sent } = await site.database.transaction(async (sql) => {
      await sql.query('LOCK TABLE products IN ACCESS EXCLUSIVE MODE');
      const sent = linesOf('name\nPatient\n', { dryRun: 'true' });
      await expect.poll(async () => (await blockedStatements(site.database)).join()).toContain('wanted.slug');
      vi.advanceTimersByTime(2 * IMPORT_HEARTBEAT_MS);
      return { sent };
    });
    const [first, ...others] = await sent;
    expect(first).toEqual({ kind: 'progress', stage: 'check', done: 0 });
    // On a slow machine, one more progress line precedes the result.
    const repeated = others.filter((line, index) => isDeepStrictEqual(line, others[index + 1]));
    expect(repeated).toContainEqual(expect.objectContaining({ kind: 'progress' }));
    expect(others.at(-1)).toMatchObject({ kind: 'done' });
  });

  test('an import that has not committed when the site stops is aborted, and its file is deleted', async () => {
    const stopping = await startTestSite({ databaseOf: site });
    const uploads = await uploadFolder();
    const { sent, closed } = await site.database.transaction(async (sql) => {
      await sql.query('LOCK TABLE products IN ACCESS EXCLUSIVE MODE');
      const sent = send('name\nStopped\n', {}, await addOperator(stopping, 'mia'));
      await expect.poll(async () => (await blockedStatements(site.database)).join()).toContain('wanted.slug');
      const closed = stopping.close();
      await expect.poll(() => refusesRequests(stopping)).toBe(true);
      return { sent, closed };
    });
    await closed;
    expect(await readdir(uploads)).toEqual([]);
    expect(await sent).toEqual({ kind: 'failed', message: 'The site is stopping. Nothing was imported.' });
    expect((await ada.ask('GET', '/products/stopped')).statusCode).toBe(404);
  });

  test('an upload that has not ended when the site stops is refused without waiting for its end, and its file is deleted', async () => {
    const stopping = await startTestSite({ databaseOf: site });
    const { cookie } = await addOperator(stopping, 'noa');
    const uploads = await uploadFolder();
    const address = await stopping.app.listen({ port: 0, host: '127.0.0.1' });
    const upload = request(`${address}/api/console/import?name=launches.csv&kind=csv`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/octet-stream' },
    });
    const responded = once(upload, 'response');
    upload.write('name\n');
    await expect.poll(() => readdir(uploads)).toHaveLength(1);
    const closed = stopping.close();
    const [response] = await responded;
    expect(await json(response)).toMatchObject({ status: 503, detail: 'The site is stopping. Nothing was imported.' });
    upload.destroy();
    await closed;
    expect(await readdir(uploads)).toEqual([]);
  });

  test('an import ends without a result if the database does not confirm the commit, because the import may be complete', async () => {
    loseCommitResponseOnce(site.database);
    expect(await send('id,name\nunconfirmed,Unconfirmed\n')).toMatchObject({ kind: 'progress' });
    expect(await ada.lastEntry()).toMatchObject({ action: 'import', details: { created: 1 } });
  });

  test('ten thousand rows can be imported and undone', async () => {
    const prefix = `bulk-${randomUUID().slice(0, 8)}`;
    const rows = Array.from({ length: 10_000 }, (_, index) => `${prefix}-${index},Product ${index}`);
    const done = await send(`id,name\n${rows.join('\n')}\n`);
    expect(done).toMatchObject({ kind: 'done', summary: { created: 10_000 } });
    expect((await ada.undo(await ada.lastEntry())).statusCode).toBe(200);
    expect((await ada.ask('GET', `/products/${prefix}-9999`)).statusCode).toBe(404);
  });

  test('an invalid file and invalid options are refused', async () => {
    expect(await send('one,two\n1,2\n')).toMatchObject({ kind: 'errors', errors: [{ line: 1 }] });
    expect(await send('name\nA\n', { map: JSON.stringify(['tags=Topics']) })).toMatchObject({ kind: 'failed' });
    const bad = await ada.ask('POST', '/import?name=a.csv&kind=csv&map=nonsense', Buffer.from('name\n'), {
      'content-type': 'application/octet-stream',
    });
    expect(bad.statusCode).toBe(400);
  });
});
