/**
 * The temporary folder of a test run. It identifies the files and processes that the run creates, so they can be
 * removed when the run ends.
 */

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning } from '../is-running.js';

const PREFIX = 'groundswell-run-';

/** Caches that tools leave in a temporary folder. */
const TOOL_CACHES =
  /^(?:node-compile-cache|tsx-\d+|playwright-transform-cache.*|v8-compile-cache.*|\.org\.chromium\..*)$/;

const QUIT_GRACE_MS = 2_000;
const MEMORY_FOLDER = '/dev/shm';
const MEMORY_NEEDED_BYTES = 6 * 1024 ** 3;

/** Creates the folder with the permissions of /tmp, because some tests run programs under another account. */
export async function createRunFolder() {
  for (const parent of [tmpdir(), MEMORY_FOLDER]) await removeAbandoned(parent);
  const folder = mkdtempSync(join(parentFolder(), `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o1777);
  return folder;
}

/** Lists the files, except caches of tools, and the processes that the tests left behind. */
export function leftovers(folder) {
  const files = readdirSync(folder).filter((name) => !TOOL_CACHES.test(name));
  return { files, processes: processesOf(folder).map(({ pid, command }) => `${pid} ${command}`) };
}

/** Terminates all processes of the run and removes the folder. */
export async function removeRunFolder(folder) {
  const began = performance.now();
  for (;;) {
    const processes = processesOf(folder);
    if (processes.length === 0) break;
    // PostgreSQL frees its shared memory when it quits, but not when it is killed.
    const signal = performance.now() - began < QUIT_GRACE_MS ? 'SIGQUIT' : 'SIGKILL';
    for (const { pid } of processes) kill(pid, signal);
    await delay(50);
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/**
 * Returns the folder in memory if it has enough space, because tests create thousands of small files. Otherwise,
 * returns the system's temporary folder.
 */
function parentFolder() {
  if (process.platform !== 'linux' || !existsSync(MEMORY_FOLDER)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
  const isLarge = Math.min(bavail * bsize, availableMemory()) >= MEMORY_NEEDED_BYTES;
  return isLarge && mayRunPrograms(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir();
}

function availableMemory() {
  const [, kilobytes] = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
  const constrained = process.constrainedMemory();
  return Math.min(Number(kilobytes) * 1024, constrained > 0 ? constrained : Number.POSITIVE_INFINITY);
}

/** Returns whether a mount is writable and not `noexec`, because some tests execute copies of programs. */
function mayRunPrograms(mountPoint) {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const options = mounts.map((line) => line.split(' ')).find(([, path]) => path === mountPoint)?.[3] ?? '';
  return options.startsWith('rw') && !options.split(',').includes('noexec');
}

/** Removes the folders and processes of killed runs. A folder's name contains the process id of its run. */
async function removeAbandoned(parent) {
  if (!existsSync(parent)) return;
  for (const name of readdirSync(parent)) {
    const owner = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
    const folder = join(parent, name);
    if (!owner || isRunning(owner) || statSync(folder, { throwIfNoEntry: false })?.uid !== process.getuid?.()) continue;
    await removeRunFolder(folder);
  }
}

/**
 * Returns the running processes whose command line contains the folder, whose TMPDIR is the folder or, on Linux, whose
 * working directory is in it.
 */
function processesOf(folder) {
  if (process.platform === 'win32') return [];
  return process.platform === 'linux' ? processesInProc(folder) : processesOfPs(folder);
}

function processesInProc(folder) {
  const found = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      // A process without a command line is a kernel thread, or a zombie, which has already exited.
      if (command === '') continue;
      const isOurs =
        `${readlinkSync(`/proc/${pid}/cwd`)}${sep}`.startsWith(`${folder}${sep}`) ||
        command.includes(folder) ||
        readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`TMPDIR=${folder}`);
      if (isOurs) found.push({ pid, command });
    } catch {
      // The process has exited, or belongs to another user.
    }
  }
  return found;
}

function processesOfPs(folder) {
  const lines = execFileSync('ps', ['-axwwEo', 'pid=,command='], { encoding: 'utf8' }).split('\n');
  return lines
    .filter((line) => line.includes(folder))
    .map((line) => ({ pid: Number.parseInt(line, 10), command: line.trim().slice(0, 200) }))
    .filter(({ pid }) => pid > 0 && pid !== process.pid);
}

function kill(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has exited.
  }
}
