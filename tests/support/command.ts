import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { processesOf } from '../../src/core/database/embedded/processes.ts';
import { pidsOfChildren } from './child-processes.ts';
import { environmentWithoutSettings } from './environment.ts';
import { copySampleSite, installedProgram, nodeForAll } from './installed-command.ts';
import { stopServer } from './throwaway-cluster.ts';

export interface CommandResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunningCommand {
  process: ChildProcess;
  /** Waits for the first match of a pattern in the command's output. Fails if the command exits without one. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves when the command has exited. */
  exited: Promise<CommandResult>;
}

/** The ids of the user and group `nobody`, which own no files. */
export const NOBODY = { uid: 65_534, gid: 65_534 };

/** The account for tests of missing permissions: `nobody` for root, who may do everything; unset for other users. */
export const UNPRIVILEGED = process.getuid?.() === 0 ? NOBODY : undefined;

export interface RunOptions {
  /** The command's settings. It inherits no settings from the environment of the test run. */
  settings?: Record<string, string>;
  /** Runs the command as this user, which requires root. */
  account?: { uid: number; gid: number } | undefined;
}

/** Starts the built command without a terminal. `installCommand` must have run. */
function startCommand(parameters: readonly string[], { settings = {}, account }: RunOptions = {}) {
  const options: SpawnOptions = {
    ...account,
    env: { ...environmentWithoutSettings(), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  };
  return watch(spawn(nodeForAll(), [installedProgram(account !== undefined), ...parameters], options));
}

/** Runs the built command until it exits. */
export function runCommand(parameters: readonly string[], options?: RunOptions): Promise<CommandResult> {
  return startCommand(parameters, options).exited;
}

function watch(child: ChildProcess): RunningCommand {
  const written = { stdout: '', stderr: '' };
  let hasExited = false;
  let changed = () => {};
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text) => {
      written[name] += text;
      changed();
    });
  }
  const exited = new Promise<CommandResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      hasExited = true;
      changed();
      resolve({ code, signal, ...written });
    });
  });
  return {
    process: child,
    exited,
    async waitForOutput(pattern) {
      for (;;) {
        const found = pattern.exec(written.stdout) ?? pattern.exec(written.stderr);
        if (found) return found;
        if (hasExited)
          throw new Error(`The command exited without printing ${pattern}:\n${written.stdout}\n${written.stderr}`);
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      }
    },
  };
}

/** The folders and processes of one test. `clear()` kills the processes and deletes the folders. */
export class CommandHarness {
  readonly #folders: string[] = [];
  readonly #commands: RunningCommand[] = [];

  /** Creates a folder that every account can enter. */
  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'groundswell-cli-'));
    await chmod(folder, 0o755);
    this.#folders.push(folder);
    return folder;
  }

  /** Returns the path of a data folder that does not exist yet. */
  async dataDir(): Promise<string> {
    return join(await this.folder(), 'data');
  }

  /** Creates a data folder of a stopped site with the sample catalogue, for tests that do not test the first start. */
  async sampleDataDir(): Promise<string> {
    const dataDir = await this.dataDir();
    await copySampleSite(dataDir);
    return dataDir;
  }

  start(parameters: readonly string[], options?: RunOptions): RunningCommand {
    const command = startCommand(parameters, options);
    this.#commands.push(command);
    return command;
  }

  /** Starts a site on a free port and waits until it is up. */
  async serve(settings: Record<string, string>): Promise<RunningCommand & { address: string; products: number }> {
    const site = this.start(['serve'], { settings: { PORT: '0', ...settings } });
    const [, address = ''] = await site.waitForOutput(/Address +(http:\S+)\n/);
    const [, products] = await site.waitForOutput(/Products +([\d,]+)\n/);
    return { ...site, address, products: Number(products?.replaceAll(',', '')) };
  }

  async clear(): Promise<void> {
    for (const { process, exited } of this.#commands.splice(0)) {
      process.kill('SIGKILL');
      await exited;
    }
    for (const folder of this.#folders.splice(0)) {
      await stopServer(join(folder, 'data', 'postgres'));
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

/** Returns the ids of the PostgreSQL processes of a site's data folder. */
export function databasePids(dataDir: string): Promise<number[]> {
  return processesOf(join(dataDir, 'postgres'));
}

/** Returns the process ids of a site's workers, excluding its spare process and its database. Works on Linux only. */
export function workersOf(pid: number | undefined): Promise<number[]> {
  return pidsOfChildren('groundswell worker', pid ?? 0);
}

/** Sends a signal, unless the process has exited since it was listed. */
export function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    expect(error).toMatchObject({ code: 'ESRCH' });
  }
}

/** Expects exit code 2, nothing on standard output, and exactly these lines on standard error. */
export function expectRefusal(
  { code, stdout, stderr }: Omit<CommandResult, 'signal'>,
  ...lines: readonly RegExp[]
): void {
  expectFailure({ code, stdout, stderr }, 2, ...lines);
}

/** Expects this exit code, nothing on standard output, and exactly these lines on standard error. */
export function expectFailure(
  { code, stdout, stderr }: Omit<CommandResult, 'signal'>,
  expected: 1 | 2,
  ...lines: readonly RegExp[]
): void {
  const written = stderr.trimEnd().split('\n');
  expect({ code, stdout }, `${stdout}${stderr}`).toEqual({ code: expected, stdout: '' });
  expect(written).toEqual(lines.map((line) => expect.stringMatching(line)));
  for (const line of written) expect(line).toMatch(/^groundswell: /);
}
