import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'vitest';

/** Returns the ids of this process's children whose command lines contain a program's name. Works on Linux only. */
export async function pidsOfChildren(program: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => ((await isChild(pid, program)) ? pid : undefined)));
  return found.filter((pid) => pid !== undefined);
}

async function isChild(pid: number, program: string): Promise<boolean> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    if (Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) !== process.pid) return false;
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes(program);
  } catch {
    // The process has ended.
    return false;
  }
}

/** Returns the peak memory of a process in bytes. Works on Linux only. */
export async function residentPeakOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** Sends a signal to an idle Node.js process, and resolves after its event loop has handled it. Works on Linux only. */
export async function signalIdle(pid: number, signal: NodeJS.Signals): Promise<void> {
  const statusOf = async () => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const waits = Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
    return { waits, isPending: !/^ShdPnd:\s+0+$/m.test(status) };
  };
  const before = await statusOf();
  process.kill(pid, signal);
  await expect
    .poll(async () => {
      const { waits, isPending } = await statusOf();
      // The process has handled the signal once it waits for the next event again.
      return !isPending && waits > before.waits;
    })
    .toBe(true);
}
