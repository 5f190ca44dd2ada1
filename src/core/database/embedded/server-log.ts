import { existsSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Account, ownerOnDisk, runAsOwner } from './account.ts';
import { LOG_FOLDER, MAX_LOG_FILES } from './server-settings.ts';

/** The file for PostgreSQL's output until it opens its own log, or for all of its output if it cannot start. */
export const START_LOG = 'start.log';

/** Returns the line of PostgreSQL's output that says why PostgreSQL ended: the last error, or else the last line. */
export function errorLine(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const errors = lines.filter((line) => /\b(FATAL|PANIC|ERROR|error|could not)\b/.test(line));
  let line = errors.at(-1) ?? lines.at(-1) ?? 'PostgreSQL printed no message';
  // If the configuration is invalid, the last line only says that there are errors; the line before it names them.
  if (line.endsWith('contains errors')) line = lines[lines.indexOf(line) - 1] ?? line;
  return line.replace(/^\d{4}-\d\d-\d\d [\d:.]+ \w+ \[\d+\] /, '').trim();
}

/** Returns PostgreSQL's own message about why the latest start or run of this cluster ended. */
export function lastServerLine({ clusterDir, account }: LogOwner): string {
  return runAsOwner(ownerOnDisk(account), () => {
    const start = readOrEmpty(join(clusterDir, START_LOG));
    const handedOver = start.includes('redirecting log output');
    const newest = handedOver ? logFiles(clusterDir).at(-1) : undefined;
    const log = newest ? readOrEmpty(newest) : '';
    return errorLine(
      log.trim() === '' ? start.replace(/^.*(redirecting log output|HINT: {2}Future log output).*$/gm, '') : log,
    );
  });
}

/** Deletes all but the newest log files, so the log stays bounded. */
export function pruneLogs({ clusterDir, account }: LogOwner): void {
  runAsOwner(ownerOnDisk(account), () => {
    for (const file of logFiles(clusterDir).slice(0, -MAX_LOG_FILES)) rmSync(file, { force: true });
  });
}

interface LogOwner {
  readonly clusterDir: string;
  readonly account: Account;
}

/**
 * Lists the log files, oldest first. A file whose time is over a minute in the future was written while the clock was
 * wrong, so it counts as the oldest.
 */
function logFiles(clusterDir: string): string[] {
  const folder = join(clusterDir, LOG_FOLDER);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .sort()
    .map((name) => join(folder, name))
    .sort((one, other) => writtenAt(one) - writtenAt(other));
}

function writtenAt(path: string): number {
  const time = Math.floor(lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return time > Date.now() + 60_000 ? 0 : time;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
