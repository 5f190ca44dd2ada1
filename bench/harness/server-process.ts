import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };

export interface ServerProcess {
  address: string;
  pid: number;
  /** Sends SIGTERM and waits until the process has exited. */
  stop(): Promise<void>;
}

const ROOT = join(import.meta.dirname, '../..');

/** The Node.js flags of `npm start`. Baselines get the same flags, so ratios compare only the programs. */
const NODE_FLAGS = packageJson.scripts.start.match(/--\S+/g) ?? [];

/** Starts the site with an embedded database and the sample catalogue, in a temporary folder that `stop` deletes. */
export async function startSampleSite(): Promise<ServerProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-bench-'));
  const site = await startSite('', { DATA_DIR: join(folder, 'data') });
  return {
    ...site,
    async stop() {
      await site.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts the production build of the site, with log level `warn` and without rate limits. */
export async function startSite(databaseUrl: string, environment: Record<string, string> = {}): Promise<ServerProcess> {
  await build();
  return start([...NODE_FLAGS, join(ROOT, 'bin/groundswell.js'), 'serve'], {
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'warn',
    RATE_LIMITS: 'off',
    ...environment,
  });
}

/**
 * Builds the site in a separate process. Otherwise, a site with a stale build would build itself at its start, and the
 * bundler would count towards its memory.
 */
async function build(): Promise<void> {
  const script = "import { buildIfStale } from './scripts/build.js'; await buildIfStale();";
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { cwd: ROOT, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('The site could not be built. Its error is printed above.');
}

/** Starts a server of bench/baselines for comparison. */
export function startBaseline(name: string, environment: Record<string, string>): Promise<ServerProcess> {
  return start([...NODE_FLAGS, '--import', 'tsx', join(ROOT, 'bench/baselines', `${name}.ts`)], environment);
}

export interface CommandRun {
  seconds: number;
  peakMb: number;
}

const WATCH_MS = 50;

/** Runs the `groundswell` command until it exits. @throws Error if it fails. */
export async function runCommand(
  parameters: readonly string[],
  environment: Record<string, string>,
): Promise<CommandRun> {
  const begin = performance.now();
  const child = spawn(process.execPath, [join(ROOT, 'bin/groundswell.js'), ...parameters], {
    env: { ...process.env, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let peakMb = 0;
  const watch = setInterval(async () => {
    // If the process has exited, the earlier values remain valid.
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peakMb = Math.max(peakMb, Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024));
  }, WATCH_MS);
  const [code] = await once(child, 'exit');
  clearInterval(watch);
  if (code !== 0) throw new Error(`groundswell ${parameters[0]} exited with code ${code}`);
  return { seconds: (performance.now() - begin) / 1_000, peakMb };
}

/** Starts a process that prints the address at which it listens. */
async function start(parameters: readonly string[], environment: Record<string, string>): Promise<ServerProcess> {
  const child = spawn(process.execPath, parameters, {
    env: { ...process.env, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  return {
    address: await addressOf(child, exited),
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function addressOf(child: ChildProcess, exited: Promise<unknown[]>): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      output += text;
      const address = /Address\s+(http:\S+)/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    exited.then(([code]) => reject(new Error(`The server exited with code ${code}:\n${output}`)));
  });
}
