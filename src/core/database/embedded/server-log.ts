import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LOG_FILES_KEPT, LOG_FOLDER } from './server-settings.ts';

/** What postgres says before its own log is open, and all of it when it cannot even begin. */
export const START_LOG = 'start.log';

/** The line of PostgreSQL's output that says why: the last fatal one or error, else the last of all. */
export function tellingLine(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const telling = lines.filter((line) => /\b(FATAL|PANIC|ERROR|error|could not)\b/.test(line));
  let line = telling.at(-1) ?? lines.at(-1) ?? 'it said nothing';
  // Of a bad configuration the last line only says that there are errors; the one before says which.
  if (line.endsWith('contains errors')) line = lines[lines.indexOf(line) - 1] ?? line;
  return line.replace(/^\d{4}-\d\d-\d\d [\d:.]+ \w+ \[\d+\] /, '').trim();
}

/** Why the newest start or run of this cluster ended, in PostgreSQL's words. */
export async function lastServerLine(clusterDir: string): Promise<string> {
  const start = await readFile(join(clusterDir, START_LOG), 'utf8').catch(() => '');
  const handedOver = start.includes('redirecting log output');
  const newest = handedOver ? (await logFiles(clusterDir)).at(-1) : undefined;
  const log = newest ? await readFile(newest, 'utf8').catch(() => '') : '';
  return tellingLine(
    log.trim() === '' ? start.replace(/^.*(redirecting log output|HINT: {2}Future log output).*$/gm, '') : log,
  );
}

/** Removes all but the newest log files, so that the log cannot grow without bound. */
export async function pruneLogs(clusterDir: string): Promise<void> {
  const files = await logFiles(clusterDir);
  for (const file of files.slice(0, -LOG_FILES_KEPT)) await rm(file, { force: true });
}

/** Oldest first: the names carry the time. */
async function logFiles(clusterDir: string): Promise<string[]> {
  const folder = join(clusterDir, LOG_FOLDER);
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith('.log'))
    .sort()
    .map((name) => join(folder, name));
}
