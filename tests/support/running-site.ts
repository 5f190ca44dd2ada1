import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, connect } from '../../src/core/database/connect.ts';
import { environmentWithoutSettings } from './environment.ts';
import { silentLog } from './silent-log.ts';

/** The path of the built command. */
export const COMMAND = join(import.meta.dirname, '../../bin/groundswell.js');

/** The built command, running in its own process with its own data folder. */
export interface RunningSite {
  address: string;
  dataDir: string;
  process: ChildProcess;
  /** Returns everything that the site has printed so far. */
  output(): string;
  /** Connects to the site's database. The caller must close the connection. */
  connect(): Promise<Connection>;
  /** Shuts the site down and deletes its data. */
  stop(): Promise<void>;
}

/** Starts a site on a free port. `environment` contains the settings under test. */
export async function startSite(environment: Record<string, string> = {}): Promise<RunningSite> {
  const dataDir = environment.DATA_DIR ?? (await mkdtemp(join(tmpdir(), 'groundswell-site-')));
  const child = spawn(process.execPath, [COMMAND, 'serve'], {
    env: { ...environmentWithoutSettings(), PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const exited = once(child, 'exit');

  const printed = new Promise<string>((resolve) => {
    child.stdout.on('data', () => {
      const found = /Address\s+(http:\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const address = await Promise.race([printed, exited]);
  if (typeof address !== 'string') {
    await rm(dataDir, { recursive: true, force: true });
    throw new Error(`The site exited with code ${address[0]} before it was up:\n${output}`);
  }

  return {
    address,
    dataDir,
    process: child,
    output: () => output,
    connect: () => connect({ dataDir, databaseUrl: environment.DATABASE_URL, mode: 'share', log: silentLog }),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await exited;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
