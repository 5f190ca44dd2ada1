import { totalmem } from 'node:os';
import type { Address } from './address.ts';

/** `full`: an acknowledged commit survives a loss of power. `none`: no fsync, for tests whose data may be lost. */
export type Durability = 'full' | 'none';

const MB = 1024 * 1024;
const MIN_BUFFERS_MB = 128;
const MAX_BUFFERS_MB = 2_048;

/**
 * Returns the settings that are written into `postgresql.conf` once; an operator may change them there. An eighth of
 * the memory, within bounds, is for shared buffers, which make searches of a large database several times faster.
 * PostgreSQL allocates them only as they fill, so a small database uses less.
 */
export function initialSettings(memoryBytes: number): string[] {
  const memoryMb = Math.floor(memoryBytes / MB);
  const buffersMb = Math.min(MAX_BUFFERS_MB, Math.max(MIN_BUFFERS_MB, Math.floor(memoryMb / 8)));
  return [
    // Enough for many processes with a pool each; the default is 100.
    'max_connections=250',
    `shared_buffers=${buffersMb}MB`,
    // Includes the system's file cache. The setting allocates no memory; it only guides the planner.
    `effective_cache_size=${Math.max(4 * MIN_BUFFERS_MB, Math.floor(memoryMb / 2))}MB`,
    'max_wal_size=512MB',
    'log_checkpoints=off',
    'timezone=UTC',
    'log_timezone=UTC',
  ];
}

/** Returns the memory that this process may use, in bytes: that of its container, or else of the machine. */
export function availableMemoryBytes(): number {
  // Without a limit, this is 0 or more than the memory of any machine.
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

export const LOG_FOLDER = 'log';
export const MAX_LOG_FILES = 10;

/**
 * Returns the arguments with which PostgreSQL is started. Their settings override the cluster's configuration files.
 */
export function commandLine(clusterDir: string, address: Address, durability: Durability): string[] {
  const durable = durability === 'full' ? 'on' : 'off';
  const settings = {
    listen_addresses: address.socketDir === undefined ? '127.0.0.1' : '',
    unix_socket_directories: address.socketDir ?? '',
    unix_socket_permissions: '0700',
    port: String(address.port),
    fsync: durable,
    synchronous_commit: durable,
    full_page_writes: durable,
    // In tests, stores dynamic shared memory in the data folder, so deleting the folder also removes the segments of a
    // killed server.
    ...(durability === 'none' && { dynamic_shared_memory_type: 'mmap' }),
    // Bounds the log: files of 10 MB, of which `pruneLogs` keeps the newest ten.
    logging_collector: 'on',
    log_destination: 'stderr',
    log_directory: LOG_FOLDER,
    log_filename: 'postgresql-%Y-%m-%d_%H%M%S.log',
    log_rotation_size: '10MB',
    log_rotation_age: '7d',
    log_file_mode: '0600',
  };
  return ['-D', clusterDir, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
