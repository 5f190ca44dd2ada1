import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { databasesOf, Ground, installCommand } from '../support/command.ts';
import { newVisitor } from '../support/requests.ts';

const ground = new Ground();

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

beforeAll(installCommand);
afterEach(() => ground.clear());

const READERS = 8;
const AWAY_MS = 6_000;
/** The two seconds for which the cache waits for a newer answer, and what an answer costs. */
const LONGEST_ANSWER_MS = 3_000;
const SAID_AFTER_MS = 20_000;
const FRESH_AGAIN_MS = 20_000;

/** Readers that ask for each of these again and again, one answer after the other, and note what they got. */
function startReaders(address: string, paths: readonly string[], count = READERS) {
  const seen = { answers: 0, bad: [] as string[], longestMs: 0, stale: new Set<string>() };
  let reading = true;
  async function read(first: number): Promise<void> {
    for (let index = first; reading; index += 1) {
      const path = paths[index % paths.length] ?? '/';
      const begin = performance.now();
      const answer = await fetch(address + path).catch((error: Error) => error);
      if (answer instanceof Error || answer.status !== 200) seen.bad.push(`${path}: ${answer}`);
      else {
        await answer.arrayBuffer();
        if (answer.headers.get('warning')?.startsWith('110')) seen.stale.add(path);
      }
      seen.answers += 1;
      seen.longestMs = Math.max(seen.longestMs, performance.now() - begin);
      await sleep(5);
    }
  }
  const readers = Array.from({ length: count }, (_, index) => read(index));
  return {
    seen,
    async stop() {
      reading = false;
      await Promise.all(readers);
    },
  };
}

async function signalDatabase(dataDir: string, signal: NodeJS.Signals): Promise<void> {
  for (const pid of await databasesOf(dataDir)) process.kill(pid, signal);
}

async function upvotesOn(page: string): Promise<number> {
  return Number(/"upvotes":(\d+)/.exec(await (await fetch(page)).text())?.[1]);
}

test('a database that hangs under load: every page that was shown is still served, in time; then fresh again, without a restart', async () => {
  const dataDir = await ground.dataDir();
  const { address } = await ground.serve({ DATA_DIR: dataDir, LOG_LEVEL: 'fatal' });
  const list: { items: { id: string }[] } = await (await fetch(`${address}/api/products`)).json();
  const [voted = '', ...others] = list.items.map(({ id }) => id);
  const pages = ['/', '/?sort=top', ...[voted, ...others].map((id) => `/product/${id}`)];
  const answers = ['/api/products', `/api/products/${voted}`, `/api/products/${voted}/comments`];
  const paths = [...pages, ...answers];
  for (const path of paths) expect((await fetch(address + path)).status, path).toBe(200);
  const before = await upvotesOn(`${address}/product/${voted}`);

  const { seen, stop } = startReaders(address, paths);
  // What needs no database tells how long anything takes on this machine, which may be busy.
  const plain = startReaders(address, ['/healthz'], 1);
  try {
    // While it hangs, what was changed just before must not be waited for either.
    const upvoted = await fetch(`${address}/api/products/${voted}/upvote`, { method: 'PUT', headers: newVisitor() });
    expect(upvoted.status).toBe(200);
    await signalDatabase(dataDir, 'SIGSTOP');
    const answersBefore = seen.answers;
    await sleep(AWAY_MS);
    expect(seen.bad).toEqual([]);
    expect(seen.answers - answersBefore).toBeGreaterThan(paths.length);
    // A question that hangs is given up after some seconds; from then on, what is shown says that it is old.
    await vi.waitFor(() => expect(seen.stale.size).toBe(paths.length), { timeout: SAID_AFTER_MS, interval: 100 });
    expect(seen.bad).toEqual([]);
    expect(seen.longestMs).toBeLessThan(LONGEST_ANSWER_MS + plain.seen.longestMs);

    await signalDatabase(dataDir, 'SIGCONT');
    const isFresh = async () => {
      expect(await upvotesOn(`${address}/product/${voted}`)).toBe(before + 1);
      for (const path of paths) expect((await fetch(address + path)).headers.get('warning'), path).toBeNull();
    };
    await vi.waitFor(isFresh, { timeout: FRESH_AGAIN_MS, interval: 100 });
    expect(seen.bad).toEqual([]);
  } finally {
    await signalDatabase(dataDir, 'SIGCONT');
    await Promise.all([stop(), plain.stop()]);
  }
});
