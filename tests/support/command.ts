import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject } from 'vitest';
import { openDatabase } from '../../src/core/database/database.ts';
import { killAll } from '../../src/core/database/embedded/postmaster.ts';
import { processesOf } from '../../src/core/database/embedded/process-table.ts';
import { SETTING_NAMES } from '../../src/settings/settings.ts';
import { silentLog } from './silent-log.ts';

const CHECKOUT = join(import.meta.dirname, '../..');

/** The folder of the package as it is installed: built, without its sources. Set by `installCommand`. */
let installed: string | undefined;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunningCommand {
  process: ChildProcess;
  /** The first match of a pattern in what it writes, waited for. Fails when it ends without one. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** How it ended, waited for. */
  ended: Promise<Ended>;
}

export interface RunOptions {
  /** Settings; none are taken from the test run's own environment. */
  settings?: Record<string, string>;
  /** Runs it as this user, which takes root. */
  account?: { uid: number; gid: number };
}

/** Starts the built command without a terminal. */
export function startCommand(parameters: readonly string[], { settings = {}, account }: RunOptions = {}) {
  if (installed === undefined) throw new Error('The command is not installed yet: beforeAll(installCommand)');
  const inherited = Object.entries(process.env).filter(([name]) => !SETTING_NAMES.includes(name));
  const options: SpawnOptions = {
    ...account,
    env: { ...Object.fromEntries(inherited), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  };
  return watch(spawn(process.execPath, [join(installed, 'bin/groundswell.js'), ...parameters], options));
}

/** Runs the built command to its end. */
export function runCommand(parameters: readonly string[], options?: RunOptions): Promise<Ended> {
  return startCommand(parameters, options).ended;
}

function watch(child: ChildProcess): RunningCommand {
  const written = { stdout: '', stderr: '' };
  let over = false;
  let changed = () => {};
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text) => {
      written[name] += text;
      changed();
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      over = true;
      changed();
      resolve({ code, signal, ...written });
    });
  });
  return {
    process: child,
    ended,
    async says(pattern) {
      for (;;) {
        const found = pattern.exec(written.stdout) ?? pattern.exec(written.stderr);
        if (found) return found;
        if (over) throw new Error(`It ended without saying ${pattern}:\n${written.stdout}\n${written.stderr}`);
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      }
    },
  };
}

/**
 * Builds what is not built and installs it aside, so that a test neither builds again nor runs into a build when somebody
 * edits the sources meanwhile. Returns how to take it away.
 */
export async function installCommand(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-installed-'));
  await chmod(folder, 0o755);
  await withBuildLock(async () => {
    await build();
    for (const part of ['bin', 'dist', 'package.json'])
      await cp(join(CHECKOUT, part), join(folder, part), { recursive: true });
  });
  for (const part of ['node_modules', 'migrations', 'catalogue'])
    await symlink(join(CHECKOUT, part), join(folder, part));
  installed = folder;
  return () => rm(folder, { recursive: true, force: true });
}

/**
 * Lets other accounts than the tests' own run the installed command, also in a checkout that only its owner can enter: what
 * it needs of that is copied then.
 */
export async function letEverybodyRunIt(): Promise<void> {
  if (installed === undefined) throw new Error('The command is not installed yet: beforeAll(installCommand)');
  if (await canEverybodyEnter(CHECKOUT)) return;
  const target = installed;
  for (const part of ['migrations', 'catalogue', 'node_modules']) await rm(join(target, part), { force: true });
  const { stdout } = await promisify(execFile)('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: CHECKOUT });
  const packages = stdout.split('\n').filter((path) => path.startsWith(join(CHECKOUT, 'node_modules')));
  for (const path of [join(CHECKOUT, 'migrations'), join(CHECKOUT, 'catalogue'), ...packages])
    await cp(path, join(target, relative(CHECKOUT, path)), { recursive: true, verbatimSymlinks: true });
}

async function canEverybodyEnter(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & 0o001) === 0) return false;
  return folder === dirname(folder) || canEverybodyEnter(dirname(folder));
}

async function build(): Promise<void> {
  const child = spawn(process.execPath, [join(CHECKOUT, 'bin/groundswell.js'), '--help'], { stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('The site cannot be built: try npm run build');
}

/** Test files run beside each other, and one build is enough. The database server of the run keeps the lock. */
async function withBuildLock(work: () => Promise<void>): Promise<void> {
  const url = inject('databaseServerUrl');
  const server = openDatabase({ url, log: silentLog, maxConnections: 1, statementTimeoutMs: 0 });
  try {
    await server.transaction(async (sql) => {
      await sql.query('SELECT pg_advisory_xact_lock(1)');
      await work();
    });
  } finally {
    await server.close();
  }
}

/** Folders and processes of one test, all gone after `clear()`. */
export class Ground {
  readonly #folders: string[] = [];
  readonly #commands: RunningCommand[] = [];

  /** A new folder that every account can enter. */
  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'groundswell-cli-'));
    await chmod(folder, 0o755);
    this.#folders.push(folder);
    return folder;
  }

  /** The path of a data folder that is still to be made. */
  async dataDir(): Promise<string> {
    return join(await this.folder(), 'data');
  }

  start(parameters: readonly string[], options?: RunOptions): RunningCommand {
    const command = startCommand(parameters, options);
    this.#commands.push(command);
    return command;
  }

  /** Starts a site on a free port and waits until it is up. */
  async serve(settings: Record<string, string>): Promise<RunningCommand & { address: string; products: number }> {
    const site = this.start(['serve'], { settings: { PORT: '0', ...settings } });
    const [, address = ''] = await site.says(/Address +(http:\S+)\n/);
    const [, products] = await site.says(/Products +([\d,]+)\n/);
    return { ...site, address, products: Number(products?.replaceAll(',', '')) };
  }

  async clear(): Promise<void> {
    for (const { process, ended } of this.#commands.splice(0)) {
      process.kill('SIGKILL');
      await ended;
    }
    for (const folder of this.#folders.splice(0)) {
      await killAll(join(folder, 'data', 'postgres'));
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

/** The PostgreSQL processes that work on a site's data folder. */
export function databasesOf(dataDir: string): Promise<number[]> {
  return processesOf(join(dataDir, 'postgres'));
}

/** It refuses: exit code 2, nothing on standard output, and on standard error these lines alone. */
export function expectRefusal({ code, stdout, stderr }: Omit<Ended, 'signal'>, ...lines: readonly RegExp[]): void {
  const written = stderr.trimEnd().split('\n');
  expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' });
  expect(written).toEqual(lines.map((line) => expect.stringMatching(line)));
  for (const line of written) expect(line).toMatch(/^groundswell: /);
}
