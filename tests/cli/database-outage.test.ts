import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { CommandHarness, databasePids, signalIfAlive } from '../support/command.ts';
import { installCommand } from '../support/installed-command.ts';
import { newVisitor } from '../support/requests.ts';

const harness = new CommandHarness();

beforeAll(installCommand);
afterEach(() => harness.clear());

const READERS_OF_EACH = 2;
/** Without a pause, requests for cached responses would use all of the CPU while others wait for the database. */
const PAUSE_MS = 10;

/** Starts clients that each request one path repeatedly, one request at a time, and record the results. */
function startReaders(address: string, paths: readonly string[]) {
  const seen = { responses: new Map<string, number>(), bad: [] as string[], stale: new Set<string>() };
  let reading = true;
  async function read(path: string): Promise<void> {
    for (; reading; await sleep(PAUSE_MS)) {
      const response = await fetch(address + path).catch((error: Error) => error);
      if (response instanceof Error || response.status !== 200) seen.bad.push(`${path}: ${response}`);
      else {
        await response.arrayBuffer();
        if (response.headers.has('age')) seen.stale.add(path);
      }
      seen.responses.set(path, (seen.responses.get(path) ?? 0) + 1);
    }
  }
  const readers = Array.from({ length: READERS_OF_EACH }, () => paths.map(read)).flat();
  return {
    seen,
    async stop() {
      reading = false;
      await Promise.all(readers);
    },
  };
}

/** Suspends every process of the database, including those that the postmaster forks before it is suspended. */
async function suspendDatabase(dataDir: string): Promise<void> {
  const stopped = new Set<number>();
  for (;;) {
    const running = (await databasePids(dataDir)).filter((pid) => !stopped.has(pid));
    if (running.length === 0) break;
    for (const pid of running) {
      signalIfAlive(pid, 'SIGSTOP');
      stopped.add(pid);
    }
  }
  expect(stopped.size).toBeGreaterThan(1);
}

async function resumeDatabase(dataDir: string): Promise<void> {
  for (const pid of await databasePids(dataDir)) signalIfAlive(pid, 'SIGCONT');
}

async function upvotesOn(page: string): Promise<number> {
  return Number(/"upvotes":(\d+)/.exec(await (await fetch(page)).text())?.[1]);
}

test('while the database hangs under load, every visited page is served stale, and afterwards fresh again', async () => {
  const dataDir = await harness.sampleDataDir();
  const { address } = await harness.serve({ DATA_DIR: dataDir, LOG_LEVEL: 'fatal' });
  const list: { items: { id: string }[] } = await (await fetch(`${address}/api/products`)).json();
  const [voted = '', ...others] = list.items.slice(0, 4).map(({ id }) => id);
  const pages = ['/', '/?sort=top', ...[voted, ...others].map((id) => `/product/${id}`)];
  const resources = ['/api/products', `/api/products/${voted}`, `/api/products/${voted}/comments`];
  const paths = [...pages, ...resources];
  for (const path of paths) expect((await fetch(address + path)).status, path).toBe(200);
  const before = await upvotesOn(`${address}/product/${voted}`);

  const { seen, stop } = startReaders(address, paths);
  try {
    // Makes the cached pages stale. No page may wait for this change while the database hangs.
    const upvoted = await fetch(`${address}/api/products/${voted}/upvote`, { method: 'PUT', headers: newVisitor() });
    expect(upvoted.status).toBe(200);
    await suspendDatabase(dataDir);
    seen.responses.clear();
    seen.stale.clear();
    // Hanging statements time out after some seconds. From then on, each response is marked as stale.
    await expect.poll(() => seen.stale.size).toBe(paths.length);
    expect([...seen.responses.keys()].toSorted()).toEqual(paths.toSorted());
    expect(seen.bad).toEqual([]);

    await resumeDatabase(dataDir);
    await expect.poll(() => upvotesOn(`${address}/product/${voted}`)).toBe(before + 1);
    const isStale = async (path: string) => (await fetch(address + path)).headers.has('age');
    for (const path of paths) await expect.poll(() => isStale(path), { message: path }).toBe(false);
    expect(seen.bad).toEqual([]);
  } finally {
    await resumeDatabase(dataDir);
    await stop();
  }
});
