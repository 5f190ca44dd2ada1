/** Backups that the site makes by itself. */
export interface BackupSettings {
  /** Absolute. */
  folder: string;
  everyMs: number;
  /** How many are kept. */
  keep: number;
}

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const LONGEST_MS = 366 * UNITS_MS.d;

/** Reads a stretch of time such as `30m`, `6h` or `1d`, into milliseconds. */
export function readInterval(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const ms = Number(amount) * (UNITS_MS[unit as keyof typeof UNITS_MS] ?? Number.NaN);
  if (!(ms > 0 && ms <= LONGEST_MS))
    throw new Error(`'${text}' is no stretch of time; it must be a number with m, h or d, such as 30m, 6h or 1d`);
  return ms;
}

export function readKept(text: string): number {
  if (!/^\d{1,4}$/.test(text) || Number(text) === 0)
    throw new Error(`'${text}' is not a number of backups; it must be a number from 1 to 9999`);
  return Number(text);
}

/** Unset without a folder: then there are no backups. */
export function backupSettingsOf(
  folder: string | undefined,
  everyMs: number,
  keep: number,
): BackupSettings | undefined {
  return folder === undefined ? undefined : { folder, everyMs, keep };
}
