import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Backup files that the site itself writes, such as `groundswell-3f9a1c2e-20261120T221834Z.backup`. No other files are
 * deleted.
 */
const SCHEDULED = /^groundswell-([0-9a-f]{8})-(\d{8}T\d{6}Z)\.backup$/;
const SCHEDULED_PARTIAL = /^groundswell-([0-9a-f]{8})-\d{8}T\d{6}Z\.backup\.\d+\.partial$/;

/** The name of a scheduled backup: its database and its time (UTC). Names of one database sort by time. */
export function scheduledName(tag: string, moment: Date): string {
  return `groundswell-${tag}-${moment.toISOString().replaceAll(/[-:]|\.\d+/g, '')}.backup`;
}

/**
 * Deletes all but the newest scheduled backups of the database of `last`, the name of the one just written. Later names
 * come from a clock that was wrong, and their backups are older.
 * @returns the deleted names.
 */
export async function pruneBackups(folder: string, last: string, keep: number): Promise<string[]> {
  const tag = SCHEDULED.exec(last)?.[1];
  const names = (await readdir(folder)).filter((name) => SCHEDULED.exec(name)?.[1] === tag).sort();
  const [later, others] = [names.filter((name) => name > last), names.filter((name) => name <= last)];
  const old = [...later, ...others].slice(0, Math.max(0, names.length - keep));
  for (const name of old) await rm(join(folder, name), { force: true });
  return old;
}

/** Deletes unfinished files of killed scheduled backups. Only the current lease holder may call it. */
export async function removePartialBackups(folder: string, tag: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (SCHEDULED_PARTIAL.exec(name)?.[1] === tag) await rm(join(folder, name), { force: true });
  }
}

/** The newest scheduled backup in a folder, of any database. */
export async function newestBackup(folder: string): Promise<string | undefined> {
  const times = (await readdir(folder)).flatMap((name) => {
    const time = SCHEDULED.exec(name)?.[2];
    return time === undefined ? [] : [{ name, time }];
  });
  const newest = times.sort((a, b) => (a.time < b.time ? -1 : 1)).at(-1);
  return newest && join(folder, newest.name);
}
