import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { belongsToCluster } from './process-table.ts';

/** What a postmaster writes about itself into `postmaster.pid` of its cluster. */
export interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  /** Folder of its unix socket; empty when it has none. */
  readonly socketDir: string;
  readonly status: 'starting' | 'ready' | 'stopping' | 'unknown';
}

/** Reads `postmaster.pid`; undefined when there is none or it is not complete yet. Says nothing about who is alive. */
export async function readPostmasterFile(clusterDir: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10));
  if (!Number.isInteger(pid) || pid === 0) return undefined;
  const word = lines[7] ?? '';
  const status = word === 'starting' || word === 'ready' || word === 'stopping' ? word : 'unknown';
  return { pid, port: Number.parseInt(lines[3] ?? '', 10) || 0, socketDir: lines[4] ?? '', status };
}

/**
 * The postmaster that is running on this cluster now, or undefined. A file left by a dead postmaster, also one whose
 * process id belongs to another program by now, is nobody.
 */
export async function runningPostmaster(clusterDir: string): Promise<PostmasterFile | undefined> {
  const file = await readPostmasterFile(clusterDir);
  return file && (await belongsToCluster(file.pid, clusterDir)) ? file : undefined;
}
