import { open } from 'node:fs/promises';

/** Puts the names in a folder onto the disk: a new file, or a renamed one, is there for good only then. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows has no handle on a folder to sync.
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
