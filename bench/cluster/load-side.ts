import { readFile } from 'node:fs/promises';
import { cpuMsOf } from '../harness/process-use.ts';
import { requireSuccess, runLoad, type Target } from '../harness/run-load.ts';
import type { BenchOptions } from '../options.ts';
import type { Side } from './side.ts';

/** Number of load processes per side. A single process may be slower than the site. */
const LOADERS = 2;
const TICK_MS = 10;

export interface SideLoad {
  /** The sum of the rates of all load processes. */
  perSecond: number;
  /** The highest value of all load processes, like `p99Ms`. */
  p50Ms: number;
  p99Ms: number;
  /** CPU time of all processes of the site, per request. */
  siteCpuUs: number;
  /** Average number of cores that the site kept busy. */
  siteCores: number;
  /** Average number of busy cores of the whole machine. */
  machineCores: number;
}

/** Loads a side at full speed. The load processes share its addresses evenly. @throws Error if a request fails. */
export async function loadSide(
  side: Side,
  targets: readonly Target[],
  { connections, seconds }: BenchOptions,
): Promise<SideLoad> {
  const pids = await side.pids();
  const before = { site: await siteCpuMs(pids), machine: await machineCpuMs(), at: performance.now() };
  const results = await Promise.all(
    Array.from({ length: LOADERS }, (_, loader) =>
      runLoad({
        address: side.addresses[loader % side.addresses.length] ?? '',
        connections: Math.ceil(connections / LOADERS),
        seconds,
        // If all load processes began with the same product, their upvotes would keep waiting for each other's row
        // locks.
        targets: rotated(targets, (loader * targets.length) / LOADERS),
      }),
    ),
  );
  const elapsedMs = performance.now() - before.at;
  const siteMs = (await siteCpuMs(pids)) - before.site;
  const machineMs = (await machineCpuMs()) - before.machine;
  const sent = results.map(requireSuccess).reduce((sum, result) => sum + result.sent, 0);
  if (targets[0]?.method === 'PUT') side.upvotes += sent;
  return {
    perSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0),
    p50Ms: Math.max(...results.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
    siteCpuUs: (siteMs * 1_000) / sent,
    siteCores: siteMs / elapsedMs,
    machineCores: machineMs / elapsedMs,
  };
}

function rotated(targets: readonly Target[], by: number): Target[] {
  const at = Math.floor(by);
  return [...targets.slice(at), ...targets.slice(0, at)];
}

async function siteCpuMs(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(pids.map(cpuMsOf));
  return each.reduce((sum, ms) => sum + ms, 0);
}

/** Returns the busy CPU time of all cores, which excludes `idle` and `iowait` (the fourth and fifth numbers). */
async function machineCpuMs(): Promise<number> {
  const line = (await readFile('/proc/stat', 'utf8')).split('\n', 1)[0] ?? '';
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.trim().split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq) * TICK_MS;
}
