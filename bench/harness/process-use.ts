import { readdir, readFile } from 'node:fs/promises';

/** Linux counts CPU time in hundredths of a second. */
const TICK_MS = 10;

/** Returns the CPU time of all threads of a process in milliseconds. */
export async function cpuMsOf(pid: number): Promise<number> {
  return (await cpuTicksOf(pid, 2)) * TICK_MS;
}

/** Sums the user and system time of a process (2 counters), or also of its children that have exited (4 counters). */
async function cpuTicksOf(pid: number, counters: 2 | 4): Promise<number> {
  const fields = await statOf(pid);
  return fields.slice(11, 11 + counters).reduce((sum, ticks) => sum + Number(ticks), 0);
}

export async function parentOf(pid: number): Promise<number> {
  return Number((await statOf(pid))[1]);
}

/** Returns the fields of /proc/PID/stat from the third on. The name before them may contain spaces and parentheses. */
async function statOf(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Returns the resident memory of a process in megabytes. */
export async function memoryMbOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** Returns the ids of a process and its descendants, read from /proc. */
export async function withChildren(pid: number): Promise<number[]> {
  // A process or thread may have exited in the meantime.
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')),
  );
  const children = lists.flatMap((list) => list.split(' ').filter((text) => text !== ''));
  return [pid, ...(await Promise.all(children.map((child) => withChildren(Number(child))))).flat()];
}

/** Returns the CPU time of a process and its descendants in milliseconds, including children that have exited. */
export async function processTreeCpuMs(pid: number): Promise<number> {
  const each = await Promise.all((await withChildren(pid)).map((one) => cpuTicksOf(one, 4).catch(() => 0)));
  return each.reduce((sum, ticks) => sum + ticks, 0) * TICK_MS;
}

/** Returns the memory (PSS) of a process and its descendants in megabytes. Shared memory counts once. */
export async function processTreeMemoryMb(pid: number): Promise<number> {
  const each = await Promise.all(
    (await withChildren(pid)).map(async (one) => {
      // A process may have exited in the meantime.
      const rollup = await readFile(`/proc/${one}/smaps_rollup`, 'utf8').catch(() => '');
      return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    }),
  );
  return Math.round(each.reduce((sum, kib) => sum + kib, 0) / 1024);
}
