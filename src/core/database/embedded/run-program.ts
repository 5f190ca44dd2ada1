import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Account } from './account.ts';

export interface ProgramResult {
  /** Exit code; null when a signal ended it or it could not be started. */
  readonly code: number | null;
  /** Standard output and standard error in the order of arrival. */
  readonly output: string;
}

/**
 * Starts a program of PostgreSQL under an account, in its own session: a Ctrl-C in the terminal goes to the whole
 * foreground group, and the database must stop after the site, in order.
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
 * Runs a program of PostgreSQL to its end with `input` on standard input. Never rejects: a failed start is a null
 * code.
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
      // Some system errors (an unknown account) are thrown and not emitted.
      return resolve({ code: null, output: String(error) });
    }
    const collect = (chunk: Buffer) => {
      output += chunk.toString('utf8');
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    // A program that ends before it has read its input is judged by its exit code, not by the broken pipe.
    child.stdin?.on('error', () => undefined);
    child.on('error', (error) => resolve({ code: null, output: `${output}${error.message}` }));
    child.on('close', (code) => resolve({ code, output }));
    child.stdin?.end(input);
  });
}

/** PGPORT, PGDATA, PGOPTIONS and the like are meant for other databases; translated messages could not be parsed. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PG') && !/^LC_|^LANG/.test(name));
  return { ...Object.fromEntries(inherited), LC_ALL: 'C' };
}
