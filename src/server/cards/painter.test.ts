import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import type { Card } from './card.ts';
import { createPainter, type Painter, type PainterOptions } from './painter.ts';

/** A program in the place of the one that draws: the name of a product tells it what to do. */
const PROGRAM = `
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit());
process.on('message', ({ number, card }) => {
  const name = card.product.name;
  if (name === 'crash') process.exit(7);
  if (name === 'hang') for (;;);
  if (name === 'refuse') return process.send({ kind: 'failed', number, reason: 'no' });
  const png = Buffer.from(name + ' by ' + process.pid);
  process.send({ kind: 'painted', number, png, residentBytes: name === 'grow' ? 1e12 : 1 });
});
process.send({ kind: 'ready' });
`;

let folder: string;
let painter: Painter;
let started: ChildProcess[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'groundswell-painter-'));
  await writeFile(join(folder, 'painter.mjs'), PROGRAM);
  await writeFile(join(folder, 'broken.mjs'), 'process.exit(1)');
});

afterAll(() => rm(folder, { recursive: true }));

beforeEach(() => {
  started = [];
});

afterEach(() => painter.close());

function newPainter(options: Partial<PainterOptions> = {}, program = 'painter.mjs'): Painter {
  painter = createPainter({
    log: silentLog,
    fontFolder: folder,
    start() {
      const child = fork(join(folder, program), { serialization: 'advanced', execArgv: [] });
      started.push(child);
      return child;
    },
    ...options,
  });
  return painter;
}

const card = (name: string): Card => ({
  siteName: 'Groundswell',
  product: { id: 'git', name, maker: '', description: '', upvotes: 0 },
});
const paint = async (name: string) => (await painter.paint(card(name))).toString();
const pidOf = (drawn: string) => drawn.split(' ').at(-1);
const hasEnded = (child: ChildProcess | undefined) => child?.exitCode !== null || child.signalCode !== null;

test('no process begins before the first card, and one draws all of them', async () => {
  newPainter();
  expect(started).toHaveLength(0);
  const drawn = await Promise.all(['a', 'b', 'c'].map(paint));
  expect(drawn.map((each) => each[0])).toEqual(['a', 'b', 'c']);
  expect(started).toHaveLength(1);
});

test.each([
  ['crashes', 'crash'],
  ['hangs', 'hang'],
])('a process that %s is replaced: its card fails, and the next are drawn', async (_what, name) => {
  newPainter({ timeoutMs: 3_000 });
  const [first, lost, next] = await Promise.allSettled([paint('a'), paint(name), paint('b')]);
  expect(lost).toMatchObject({ status: 'rejected', reason: { kind: 'failed' } });
  expect([first.status, next.status]).toEqual(['fulfilled', 'fulfilled']);
  expect(started).toHaveLength(2);
  await expect.poll(() => hasEnded(started[0])).toBe(true);
});

test('a card that cannot be drawn costs nobody the process', async () => {
  newPainter();
  const before = pidOf(await paint('a'));
  await expect(paint('refuse')).rejects.toMatchObject({ kind: 'failed' });
  expect(pidOf(await paint('b'))).toBe(before);
});

test('a process that has grown too large is replaced', async () => {
  newPainter();
  const large = pidOf(await paint('grow'));
  expect(pidOf(await paint('a'))).not.toBe(large);
  await expect.poll(() => hasEnded(started[0])).toBe(true);
});

test('a process that nobody needs ends, and another begins with the next card', async () => {
  newPainter({ idleMs: 10 });
  const first = pidOf(await paint('a'));
  await expect.poll(() => hasEnded(started[0])).toBe(true);
  expect(pidOf(await paint('b'))).not.toBe(first);
});

test('beyond the cards that may wait, one is refused at once', async () => {
  newPainter({ maxQueued: 2 });
  const waiting = [paint('a'), paint('b')];
  await expect(paint('c')).rejects.toMatchObject({ kind: 'busy' });
  expect(await Promise.all(waiting)).toHaveLength(2);
  expect(await paint('d')).toMatch(/^d/);
});

test('where the process does not even start, everybody hears so, and it is left alone for a while', async () => {
  newPainter({}, 'broken.mjs');
  const failures = await Promise.allSettled([paint('a'), paint('b')]);
  expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(paint('c')).rejects.toMatchObject({ kind: 'failed' });
  expect(started).toHaveLength(1);
});

test('a site that stops still draws the card at work, and refuses who waits behind it', async () => {
  newPainter();
  await paint('a');
  const outcomes = Promise.allSettled(['b', 'c', 'd'].map(paint));
  painter.stopQueueing();
  const refused = { status: 'rejected', reason: { kind: 'closed' } };
  expect(await outcomes).toMatchObject([{ status: 'fulfilled' }, refused, refused]);
  // A request that had come before may only now ask for its card.
  const late = Promise.allSettled(['e', 'f'].map(paint));
  expect(await late).toMatchObject([{ status: 'fulfilled' }, refused]);
});

test('closing ends the process whatever it does, and who waits hears of it', async () => {
  newPainter();
  await paint('a');
  const outcomes = Promise.allSettled([paint('hang'), paint('b')]);
  await painter.close();
  expect(hasEnded(started[0])).toBe(true);
  for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { kind: 'closed' } });
  await expect(paint('c')).rejects.toMatchObject({ kind: 'closed' });
});

test('the real program draws', async () => {
  painter = createPainter({ log: silentLog, fontFolder: PACKAGE_FOLDERS.cardFonts });
  const png = await painter.paint(card('Git'));
  expect(png.subarray(1, 4).toString()).toBe('PNG');
});
