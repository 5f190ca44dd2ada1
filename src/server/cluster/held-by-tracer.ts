import { readFile } from 'node:fs/promises';

/** Whether a debugger or a tracer (gdb, strace) is attached to a process: where the system tells, which is Linux. */
export async function isHeldByTracer(pid: number | undefined): Promise<boolean> {
  try {
    return /^TracerPid:\t[1-9]/m.test(await readFile(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // Another system, or the process is gone.
    return false;
  }
}
