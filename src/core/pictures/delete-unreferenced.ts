import { randomUUID } from 'node:crypto';
import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sql } from '../database/database.ts';
import { systemCode } from '../file-system.ts';
import { DAY_MS, HOUR_MS } from '../runtime.ts';
import {
  isIntact,
  listPictureFolder,
  PICTURE_NAME,
  PICTURE_NAME_PATTERN,
  readPicture,
  touchPicture,
} from './picture-store.ts';

/**
 * How long an unreferenced picture is retained. The delay protects new uploads, which are stored before the row that
 * references them.
 */
export const PICTURE_GRACE_MS = DAY_MS;

/** The minimum interval between updates of a file's modification time, which records when the picture was last used. */
const REFRESH_MS = 6 * HOUR_MS;

/** Matches the temporary files that killed processes leave behind. */
const UNFINISHED = new RegExp(`^\\.(${PICTURE_NAME_PATTERN})\\.[0-9a-f-]{36}$`);
const UNFINISHED_MS = HOUR_MS;

/**
 * Deletes pictures that no row has referenced for about a day, and old temporary files. If the database references none
 * of the pictures, it probably does not belong to this folder, and no picture is deleted. A file that cannot be deleted
 * or updated does not prevent the deletion of others.
 * @returns the names of deleted pictures.
 * @throws CoreError `unavailable`, or the first file system error, after all files were processed.
 */
export async function deleteUnreferencedPictures(sql: Sql, folder: string, now: Date): Promise<string[]> {
  const files = await listPictureFolder(folder);
  const deleted: string[] = [];
  const errors: unknown[] = [];
  const attempt = (work: () => Promise<void>) => work().catch((error: unknown) => void errors.push(error));
  for (const file of files) {
    const [, name] = UNFINISHED.exec(file) ?? [];
    if (name === undefined) continue;
    await attempt(async () => {
      if ((await ageOf(join(folder, file), now)) > UNFINISHED_MS) await removeUnfinished(folder, file, name, now);
    });
  }
  const names = files.filter((each) => PICTURE_NAME.test(each));
  const references = names.length > 0 ? await readPictureReferences(sql, now) : new Set<string>();
  const belongsToFolder = names.some((name) => references.has(name));
  for (const name of belongsToFolder ? names : []) {
    await attempt(async () => {
      const age = await ageOf(join(folder, name), now);
      if (references.has(name)) {
        if (age > REFRESH_MS) await touchPicture(folder, name, now);
      } else if (age > PICTURE_GRACE_MS && (await deleteUnlessStored(folder, name, now))) deleted.push(name);
    });
  }
  if (errors.length > 0) throw errors[0];
  return deleted;
}

/**
 * Deletes a temporary file. If it is a complete picture, restores it: `deleteUnlessStored` may have been killed.
 */
async function removeUnfinished(folder: string, file: string, name: string, now: Date): Promise<void> {
  const content = await readPicture(folder, file).catch(() => undefined);
  // The new time protects the picture like an upload, even if another process has stored it in the meantime.
  if (content && isIntact(name, content) && (await touchPicture(folder, file, now)))
    await rename(join(folder, file), join(folder, name));
  else await rm(join(folder, file), { force: true });
}

/** Renames the file before checking its age, so a picture stored concurrently either remains or is written again. */
async function deleteUnlessStored(folder: string, name: string, now: Date): Promise<boolean> {
  const path = join(folder, name);
  const aside = join(folder, `.${name}.${randomUUID()}`);
  try {
    await rename(path, aside);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
  if ((await ageOf(aside, now)) <= PICTURE_GRACE_MS) {
    await rename(aside, path);
    return false;
  }
  await rm(aside);
  return true;
}

/** Returns the age of a file, or 0 if another process has just deleted it. */
async function ageOf(path: string, now: Date): Promise<number> {
  const stats = await stat(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  return stats === undefined ? 0 : now.getTime() - stats.mtimeMs;
}

/**
 * Matches the path of a stored picture with its whole name, because URLs on other sites may also contain `/images/`.
 */
const STORED_PICTURE = new RegExp(`/images/(${PICTURE_NAME_PATTERN})`);

/** The number of days for which replaced pictures of an edited product are retained, so the edit can be undone. */
export const UNDO_DAYS = 30;

const undoableSince = (now: Date): Date => new Date(now.getTime() - UNDO_DAYS * DAY_MS);

/**
 * Returns whether undoing an edit could bring back references to deleted pictures. Pictures that an edit replaced are
 * retained for `UNDO_DAYS`.
 */
export function mayReferenceDeletedPictures(before: object, editedAt: Date, now: Date): boolean {
  return editedAt <= undoableSince(now) && STORED_PICTURE.test(JSON.stringify(before));
}

const NAMES_IN = `regexp_matches(text, '${STORED_PICTURE.source}', 'g') AS found WHERE text LIKE '%/images/%'`;

/**
 * The statements that select the names of pictures in each table. Visitors cannot reference pictures, so comments are
 * not searched.
 */
const SELECT_NAMES: readonly string[] = [
  `SELECT DISTINCT found[1] AS name
    FROM (SELECT concat_ws(' ', image, array_to_string(screenshots, ' '), team::text) AS text FROM products) AS texts,
      ${NAMES_IN}`,
  `SELECT DISTINCT found[1] AS name FROM (SELECT product::text AS text FROM removed_products) AS texts, ${NAMES_IN}`,
  `SELECT DISTINCT found[1] AS name
    FROM (SELECT concat(fields::text, approved_fields::text, undo::text) AS text FROM submissions) AS texts, ${NAMES_IN}`,
  `SELECT DISTINCT found[1] AS name FROM (SELECT before::text AS text FROM import_changes) AS texts, ${NAMES_IN}`,
];

const SELECT_NAMES_OF_AUDIT_LOG = `SELECT DISTINCT found[1] AS name
  FROM (SELECT details::text AS text FROM audit_log WHERE created_at > $1::timestamptz) AS texts, ${NAMES_IN}`;

/**
 * Returns the names of all pictures that rows reference or that an undo may restore.
 * @throws CoreError `unavailable`.
 */
export async function readPictureReferences(sql: Sql, now: Date): Promise<Set<string>> {
  const names = new Set<string>();
  const collect = (rows: readonly { name: string }[]) => {
    for (const { name } of rows) names.add(name);
  };
  for (const statement of SELECT_NAMES) collect(await sql.query<{ name: string }>(statement));
  collect(await sql.query<{ name: string }>(SELECT_NAMES_OF_AUDIT_LOG, [undoableSince(now).toISOString()]));
  return names;
}
