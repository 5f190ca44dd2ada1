import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../file-system.ts';
import type { Account } from './account.ts';

interface ProgramResult {
  /** Exit code; null if a signal ended the program, or it could not be started. */
  readonly code: number | null;
  /** Standard output and standard error in the order of arrival. */
  readonly output: string;
}

/**
 * Starts a PostgreSQL program under an account. The program gets its own session: Ctrl-C in a terminal reaches the
 * whole foreground process group, but the database must stop last.
 */
export function startProgram(
  account: Account,
  program: string,
  args: readonly string[],
  stdio: NonNullable<SpawnOptions['stdio']>,
): ChildProcess {
  const identity = account.kind === 'user' ? { uid: account.uid, gid: account.gid } : {};
  const options: SpawnOptions = {
    ...identity,
    stdio,
    cwd: '/',
    env: cleanEnvironment(),
    detached: true,
    windowsHide: true,
  };
  if (account.kind !== 'namespace') return spawn(program, args, options);
  return spawn('unshare', ['--user', '--map-user=65534', '--map-group=65534', '--', program, ...args], options);
}

/**
 * Runs a PostgreSQL program to completion, with `input` on standard input. Never rejects: `code` is null if the program
 * could not be started.
 */
export function runProgram(
  account: Account,
  program: string,
  args: readonly string[],
  input = '',
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    let output = '';
    let child: ChildProcess;
    try {
      child = startProgram(account, program, args, 'pipe');
    } catch (error) {
      // Some system errors, such as an unknown account, are thrown instead of emitted.
      return resolve({ code: null, output: String(error) });
    }
    const collect = (chunk: Buffer) => {
      output += chunk.toString('utf8');
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    // If a program ends before it has read its input, the broken pipe is ignored: the exit code is more informative.
    child.stdin?.on('error', () => undefined);
    child.on('error', (error) => resolve({ code: null, output: `${output}${error.message}` }));
    child.on('close', (code) => resolve({ code, output }));
    child.stdin?.end(input);
  });
}

/**
 * Returns the environment without variables such as PGPORT and PGDATA, which are meant for other databases, and without
 * a locale, since translated messages could not be parsed.
 */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PG') && !/^LC_|^LANG/.test(name));
  return { ...Object.fromEntries(inherited), LC_ALL: 'C' };
}

/**
 * Returns whether a process with this id is alive. A zombie counts as dead: in a container whose first process does not
 * reap children, a killed postmaster would otherwise look alive forever.
 */
async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (systemCode(error) !== 'EPERM') return false;
  }
  if (process.platform !== 'linux') return true;
  const stat = await ifVisible(readFile(`/proc/${pid}/stat`, 'utf8'));
  const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  return state !== '' && state !== 'Z' && state !== 'X';
}

/**
 * Returns whether a live process is a PostgreSQL process of this cluster. Ids are reused, so an id alone proves
 * nothing. On Linux, the working directory of such a process is the cluster's folder; on macOS, its command line
 * contains the folder. On Windows, only the id is checked.
 */
export async function belongsToCluster(pid: number, clusterDir: string): Promise<boolean> {
  if (!(await isAlive(pid))) return false;
  if (process.platform === 'linux') return worksIn(pid, await realpath(clusterDir).catch(() => clusterDir));
  if (process.platform === 'win32') return true;
  const output = await listProcesses(['-o', 'command=', '-p', String(pid)]);
  return output.includes('postgres') && `${output.trim()} `.includes(` ${clusterDir} `);
}

/**
 * Returns whether a process still runs the program at this path, or true if the system cannot tell. After npm has
 * replaced the program, the process could fail to load libraries, or load those of another version.
 */
export async function runsProgram(pid: number, program: string): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const running = await readlink(`/proc/${pid}/exe`).catch(() => undefined);
  return running === undefined || running === (await realpath(program));
}

/**
 * Returns the ids of live PostgreSQL processes that work in a folder or have it on their command line. Empty on
 * Windows.
 */
export async function processesOf(clusterDir: string): Promise<number[]> {
  if (process.platform === 'win32') return [];
  if (process.platform !== 'linux') return processesNaming(clusterDir);
  const folder = await realpath(clusterDir).catch(() => clusterDir);
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = await commandName(pid);
    if (!/^(postgres|initdb|unshare)/.test(command) || !(await isAlive(pid))) continue;
    if ((await worksIn(pid, folder)) || (await isOnCommandLine(pid, clusterDir))) found.push(pid);
  }
  return found;
}

async function worksIn(pid: number, folder: string): Promise<boolean> {
  const cwd = await ifVisible(readlink(join('/proc', String(pid), 'cwd')));
  // If the folder is deleted while the server runs, Linux appends this suffix.
  return (cwd === folder || cwd === `${folder} (deleted)`) && /^(postgres|initdb)/.test(await commandName(pid));
}

async function isOnCommandLine(pid: number, folder: string): Promise<boolean> {
  const command = await ifVisible(readFile(`/proc/${pid}/cmdline`, 'utf8'));
  return command.split('\0').includes(folder);
}

async function commandName(pid: number): Promise<string> {
  return (await ifVisible(readFile(`/proc/${pid}/comm`, 'utf8'))).trim();
}

async function processesNaming(folder: string): Promise<number[]> {
  const output = await listProcesses(['-axo', 'pid=,command=']);
  return output
    .split('\n')
    .filter((line) => `${line} `.includes(` ${folder} `) && /postgres|initdb/.test(line))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => pid > 0 && pid !== process.pid);
}

/**
 * Returns the output of `ps`. An exit code other than 0 is not an error: it also means that no process was found.
 * @throws Error if `ps` cannot be started, because empty output would wrongly mean that there is no process.
 */
async function listProcesses(args: readonly string[]): Promise<string> {
  const { code, output } = await runProgram({ kind: 'self' }, 'ps', args);
  if (code === null) throw new Error(`Cannot list processes: ${output.trim()}`);
  return output;
}

/** Codes of errors from reading the files of a process that has ended or belongs to another user. */
const INVISIBLE_CODES = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

/**
 * Returns the text that was read about a process, or an empty string if this process cannot see the other one. Any
 * other error is thrown, because it does not show whether the other process is alive.
 */
async function ifVisible(reading: Promise<string>): Promise<string> {
  try {
    return await reading;
  } catch (error) {
    if (INVISIBLE_CODES.has(systemCode(error) ?? '')) return '';
    throw error;
  }
}
