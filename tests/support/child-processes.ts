import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

/** Declares a test that runs on Linux only, because it uses functions of this file that need `/proc`. */
export const testOnLinux = test.runIf(process.platform === 'linux');

/**
 * Returns the ids of the child processes of `parent` (default: this process) whose command lines contain `program`.
 * Works on Linux only.
 */
export async function pidsOfChildren(program: string, parent = process.pid): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => ((await isChild(pid, program, parent)) ? pid : undefined)));
  return found.filter((pid) => pid !== undefined);
}

async function isChild(pid: number, program: string, parent: number): Promise<boolean> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    if (Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) !== parent) return false;
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes(program);
  } catch {
    // The process has exited.
    return false;
  }
}

/**
 * Writes a program into `folder` that runs `workerFile` and records its peak memory when it exits, so replaced workers
 * are measured as well. Works on Linux only.
 * @returns the path of the program, and a function that resolves to the peaks of all its processes so far, in bytes.
 */
export async function recordPeaks(folder: string, workerFile: string) {
  const name = basename(workerFile);
  const file = join(folder, name);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(
    file,
    `import { readFileSync, writeFileSync } from 'node:fs';
     const peak = ${JSON.stringify(`${folder}/peak-`)} + process.pid;
     process.on('exit', () => writeFileSync(peak, readFileSync('/proc/self/status')));
     await import(${JSON.stringify(pathToFileURL(workerFile).href)});`,
  );
  async function readPeaks(): Promise<number[]> {
    // A replaced worker may not have exited yet.
    await expect.poll(async () => (await pidsOfChildren(name)).length).toBeLessThanOrEqual(1);
    const recorded = (await readdir(folder)).filter((entry) => entry.startsWith('peak-'));
    const files = recorded.map((entry) => join(folder, entry));
    for (const pid of await pidsOfChildren(name)) files.push(`/proc/${pid}/status`);
    return Promise.all(files.map(readPeak));
  }
  return { file, readPeaks };
}

async function readPeak(statusFile: string): Promise<number> {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(await readFile(statusFile, 'utf8'))?.[1]) * 1024;
}
