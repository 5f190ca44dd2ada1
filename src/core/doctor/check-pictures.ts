import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { listPictures } from '../backups/backup-format.ts';
import type { Sql } from '../database/database.ts';
import { systemCode } from '../file-system.ts';
import { PICTURE_GRACE_MS, readPictureReferences } from '../pictures/delete-unreferenced.ts';
import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'pictures';
const MAX_NAMED = 3;

/** The job that deletes unreferenced pictures runs every hour. */
const OVERDUE_MS = PICTURE_GRACE_MS + 2 * 60 * 60 * 1_000;

/** Whether every picture that a row mentions is in the site's store, and what else is there. */
export async function checkPictures(sql: Sql, folder: string, now: Date): Promise<Finding> {
  try {
    const references = await readPictureReferences(sql, now);
    const stored = await listPictures(folder);
    const missing = [...references].filter((name) => !stored.includes(name)).sort();
    if (missing.length > 0) {
      const named = [...missing.slice(0, MAX_NAMED), ...(missing.length > MAX_NAMED ? ['…'] : [])].join(', ');
      return warning(
        CHECK,
        `${missing.length} of ${references.size} are missing from ${folder}: ${named}`,
        'Copy the folder from a backup of this machine or from the machine that has them, or upload the pictures again.',
      );
    }
    return await describeUnreferenced(
      folder,
      stored.filter((name) => !references.has(name)),
      { stored: stored.length, now },
    );
  } catch (error) {
    return warning(CHECK, `${folder}: ${systemCode(error) ?? error}`, 'Check that this user may read the folder.');
  }
}

async function describeUnreferenced(
  folder: string,
  names: readonly string[],
  { stored, now }: { stored: number; now: Date },
): Promise<Finding> {
  const found = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => undefined)));
  // A running site may delete some at this moment.
  const files = found.filter((each) => each !== undefined);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const unreferenced = `${files.length} unreferenced (${(bytes / 1024 / 1024).toFixed(1)} MiB)`;
  const message = `${stored} are stored${files.length > 0 ? `, of which ${unreferenced}` : ''}`;
  if (files.some(({ mtimeMs }) => now.getTime() - mtimeMs > OVERDUE_MS)) {
    return warning(
      CHECK,
      `${message} for more than a day`,
      'The log of the site has the reason. Check that DATABASE_URL and DATA_DIR belong together.',
    );
  }
  return ok(CHECK, message);
}
