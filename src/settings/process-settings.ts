import { wholeNumber } from './read-value.ts';

/** Most machines have fewer cores, and further processes would only cost memory. */
const MAX_PROCESSES = 64;
const MAX_STOP_DELAY_S = 300;

/** By default, PostgreSQL allows 100 connections and reserves three for superusers. */
const DEFAULT_CONNECTIONS = 97;
const MAX_POOL_SIZE = 10;
const MIN_POOL_SIZE = 2;
/** Each process has one connection outside the pool, which listens for changes. */
const LISTENING_CONNECTIONS = 1;
/** The pool size of the primary process, which serves no visitors itself if there are several processes. */
export const PRIMARY_PROCESS_CONNECTIONS = 3;
/** Connections for long work, such as a backup. */
const LONG_WORK_CONNECTIONS = 1;
/** Connections that are left to the operator's commands. */
const RESERVED_CONNECTIONS = 9;

export const readProcesses = wholeNumber(1, MAX_PROCESSES, 'is invalid: the number of processes must be');

const readSeconds = wholeNumber(0, MAX_STOP_DELAY_S, 'is invalid: the number of seconds must be');

/** Reads a number of seconds. @returns milliseconds. */
export function readStopDelay(text: string): number {
  return readSeconds(text) * 1_000;
}

/**
 * Returns the pool size of each process (2 to 10), without its listening connection. The pools share the `limit`
 * connections that the database allows, but at most PostgreSQL's default number.
 */
export function poolSizePerProcess(processes: number, limit: number = DEFAULT_CONNECTIONS): number {
  const others = primaryConnections(processes) + LONG_WORK_CONNECTIONS + RESERVED_CONNECTIONS;
  const share = Math.floor((Math.min(limit, DEFAULT_CONNECTIONS) - others) / processes) - LISTENING_CONNECTIONS;
  return Math.min(MAX_POOL_SIZE, Math.max(MIN_POOL_SIZE, share));
}

/** Returns the maximum number of connections of a site with this many processes if the database allows `limit`. */
export function maxConnectionsNeeded(processes: number, limit?: number): number {
  const each = poolSizePerProcess(processes, limit) + LISTENING_CONNECTIONS;
  return processes * each + primaryConnections(processes) + LONG_WORK_CONNECTIONS;
}

/** Returns the number of connections of a primary process that serves no visitors itself. */
function primaryConnections(processes: number): number {
  return processes === 1 ? 0 : PRIMARY_PROCESS_CONNECTIONS;
}
