import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { SubmissionRecord } from '../../src/contract/console/records.ts';
import type { Submission } from '../../src/contract/submissions/schema.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { NO_FIELDS } from '../../src/core/submissions/submission-fields.ts';
import { createSubmissions, type Submissions } from '../../src/core/submissions/submissions.ts';
import { jsonOf, runProgram } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let database: TestDatabase;
let submissions: Submissions;
let id: string;
let makerKey: string;
beforeAll(async () => {
  database = await createTestDatabase();
  submissions = createSubmissions(database, {
    runtime: systemRuntime,
    timeZone: 'UTC',
    getStandings: async () => null,
  });
});
afterAll(() => database.drop());
beforeEach(async () => {
  ({
    submission: { id },
    makerKey,
  } = await submissions.create({ name: 'Tide tables', maker: 'Ada' }, { session: 's' }));
});

const settings = () => ({ DATABASE_URL: database.url, SITE_URL: 'https://launches.example' });
const run = (...parameters: string[]) => runProgram(['submissions', ...parameters], settings());
const json = <Result>(...parameters: string[]) => jsonOf<Result>(['submissions', ...parameters], settings());
const status = async (): Promise<Submission['status']> => (await submissions.get({ id, makerKey })).status;
const log = async () => (await runProgram(['log', '--limit', '1'], settings())).stdout;

test('list prints waiting submissions in 80 columns and refuses a malformed cursor, and show prints one submission, without a launch if it was withdrawn', async () => {
  const { stdout } = await run('list');
  expect(stdout).toMatch(new RegExp(`^ID .*\\n(?:.*\\n)*${id} +Tide tables +Ada +waiting +1 `));
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  const listed = await json<{ submissions: SubmissionRecord[] }>('list', '--all', '--limit', '1');
  expect(listed.submissions).toMatchObject([{ id, status: 'waiting', canUndo: false }]);
  expect(await run('list', '--cursor', 'garbage')).toMatchObject({
    code: 2,
    stderr: 'groundswell: This cursor does not belong to this list. Start again without one.\n',
  });
  const { stdout: shown } = await run('show', id);
  expect(shown).toContain('Launch        as soon as it is approved');
  expect(shown).toContain('Maker         Ada');
  await submissions.withdraw({ id, makerKey });
  const { stdout: withdrawn } = await run('show', id);
  expect(withdrawn).toContain('Status        withdrawn');
  expect(withdrawn).not.toContain('Launch');
  expect(await run('show', 'nothing')).toMatchObject({ code: 1, stderr: expect.stringContaining("'nothing'") });
});

test('approve launches a product immediately, a second approve exits 1, and undo removes the product again', async () => {
  expect(await run('approve', id)).toMatchObject({ code: 0, stdout: `${id} has launched.\n` });
  expect(await status()).toBe('launched');
  expect(await run('approve', id)).toMatchObject({
    code: 1,
    stderr: `groundswell: ${id}: '${id}' is already approved.\n`,
  });
  expect(await log()).toContain(`approved submission ${id} to launch at `);
  expect(await run('undo', id)).toMatchObject({ code: 0, stdout: `${id} is waiting for a decision.\n` });
  expect(await status()).toBe('waiting');
  expect(await database.query('SELECT FROM products WHERE id = $1', [id])).toEqual([]);
  expect(await log()).toContain(`undid the approval of submission ${id}`);
});

test.each([
  ['ahead', 1],
  ['behind', -1],
])("approve launches at the database's time even if this machine's clock is an hour %s", async (_what, hours) => {
  const before = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: before + hours * 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await run('approve', id)).toMatchObject({ code: 0, stdout: `${id} has launched.\n` });
  vi.useRealTimers();
  const { launchAt, status } = await submissions.get({ id, makerKey });
  expect(status).toBe('launched');
  expect(Date.parse(launchAt ?? '')).toBeGreaterThanOrEqual(before - 60_000);
});

test("schedule accepts a future time even if this machine's clock is an hour ahead", async () => {
  const time = new Date(Date.now() + 1_800_000).toISOString();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await run('schedule', id, time)).toMatchObject({ code: 0 });
});

test('decline requires a reason, which the maker can read', async () => {
  for (const missing of [[], ['--reason', ' '], ['--reason', '\u200b']])
    expect(await run('decline', id, ...missing)).toMatchObject({ code: 2 });
  expect(await run('decline', id, '--reason', 'Please add a picture.')).toMatchObject({ code: 0 });
  expect(await submissions.get({ id, makerKey })).toMatchObject({
    status: 'declined',
    reason: 'Please add a picture.',
  });
});

test('undoing the decline of a removed product prints that it stays off the site', async () => {
  await run('approve', id);
  await runProgram(['products', 'remove', id, '--yes'], settings());
  expect((await run('decline', id, '--reason', 'Malware')).stdout).toBe(`${id} is declined: Malware\n`);
  const stdout = `${id} is declined: The product was removed from the site.\n`;
  expect(await run('undo', id)).toMatchObject({ code: 0, stdout });
  expect(await status()).toBe('declined');
});

test('schedule approves a submission for a future time, and refuses a past time or another revision', async () => {
  const time = new Date(Date.now() + 3_600_000).toISOString();
  expect(await run('schedule', id, '2020-01-01')).toMatchObject({ code: 2 });
  expect(await run('schedule', id, time, '--revision', '9')).toMatchObject({ code: 1 });
  expect(await run('schedule', id, time, '--revision', '1')).toMatchObject({ code: 0 });
  expect(await submissions.get({ id, makerKey })).toMatchObject({ status: 'scheduled', launchAt: time });
});

test('approve with several ids approves the submissions that exist, and names the unknown ids', async () => {
  const result = await run('approve', id, 'nothing', '--json');
  expect(result.code).toBe(1);
  expect(JSON.parse(result.stdout)).toMatchObject({
    submissions: [{ id, status: 'launched', revision: 2 }],
    failed: [{ id: 'nothing', code: 'submission_not_found' }],
  });
});

test.each<[string, string[], (id: string) => string]>([
  ['as text', [], (first) => `${first} has launched.\n`],
  ['as JSON', ['--json'], (first) => `{"submissions":[{"id":"${first}","status":"launched"`],
])('if the database fails, approve prints the earlier decisions %s, and exits 1', async (_, flags, printed) => {
  const { submission: last } = await submissions.create({ name: 'Ebb tables', maker: 'Ada' }, { session: 's' });
  await database.query(
    `CREATE FUNCTION fill_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE 'No space left on device' USING ERRCODE = '53100'; END $$`,
  );
  await database.query(
    `CREATE TRIGGER fill_disk BEFORE UPDATE ON submissions FOR EACH ROW WHEN (OLD.id = '${last.id}') EXECUTE FUNCTION fill_disk()`,
  );
  onTestFinished(async () => void (await database.query('DROP FUNCTION fill_disk CASCADE')));
  const { code, stdout, stderr } = await run('approve', id, 'nothing', last.id, ...flags);
  expect(code).toBe(1);
  expect(stdout).toContain(printed(id));
  expect(stdout + stderr).toContain('nothing');
  expect(stderr).toContain("The database's disk is full.");
  expect(await status()).toBe('launched');
});

test('key prints a new maker link, which invalidates the old one', async () => {
  const { stdout } = await run('key', id);
  const [, key = ''] = /^https:\/\/launches\.example\/product\/[\w-]+#maker=([\w-]{43})\n$/.exec(stdout) ?? [];
  expect(await submissions.get({ id, makerKey: key })).toMatchObject({ id });
  await expect(submissions.get({ id, makerKey })).rejects.toMatchObject({ code: 'submission_not_found' });
  const entries = (await runProgram(['log', '--json'], settings())).stdout;
  expect(entries).not.toContain(key);
});

test('export writes submissions without maker keys and networks', async () => {
  const { stdout } = await runProgram(['export', '-', '--tables', 'submissions'], settings());
  const exported = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(exported.find((each) => each.id === id)).toEqual({
    id,
    status: 'waiting',
    reason: null,
    launchAt: null,
    ...NO_FIELDS,
    name: 'Tide tables',
    maker: 'Ada',
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    decidedAt: null,
  });
});
