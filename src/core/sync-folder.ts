import { open } from 'node:fs/promises';

/** Syncs a folder to disk: a new or renamed file is durable only then. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows has no handle on a folder to sync.
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
