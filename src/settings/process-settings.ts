import type { ActionLimits, Rate, RateLimits } from './rate-limits.ts';
import type { StreamLimits } from './stream-limits.ts';

/** More than any machine of ours has cores: beyond, more processes only cost memory. */
const MOST_PROCESSES = 64;
const LONGEST_STOP_DELAY_S = 300;

/** A PostgreSQL that nobody has set up takes a hundred connections, of which it keeps three for superusers. */
const USUAL_CONNECTIONS = 97;
const CONNECTIONS_AT_MOST = 10;
const CONNECTIONS_AT_LEAST = 2;
/** Of each process beside those: one listens for hints of changes. */
const CONNECTIONS_TO_LISTEN = 1;
/** The first of several processes serves nobody. Like any, it has one more for long work, such as a backup. */
export const CONNECTIONS_OF_FIRST_PROCESS = 3;
const CONNECTIONS_FOR_LONG_WORK = 1;
/** For the operator's commands. */
const CONNECTIONS_KEPT_FREE = 9;

/** How many requests a second a share of the searches has at least. */
const SEARCHES_AT_LEAST = 5;

export function readProcesses(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) < 1 || Number(text) > MOST_PROCESSES)
    throw new Error(
      `'${text.slice(0, 20)}' is not a number of processes; it must be a number from 1 to ${MOST_PROCESSES}`,
    );
  return Number(text);
}

/** Reads a number of seconds, into milliseconds. */
export function readStopDelay(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > LONGEST_STOP_DELAY_S)
    throw new Error(
      `'${text.slice(0, 20)}' is not a number of seconds; it must be a number from 0 to ${LONGEST_STOP_DELAY_S}`,
    );
  return Number(text) * 1_000;
}

/**
 * Connections to the database for each of so many processes, beside the one that listens: as many as `limit`, what the database
 * takes, has room for, but no more than a PostgreSQL that nobody has set up.
 */
export function connectionsOf(processes: number, limit: number = USUAL_CONNECTIONS): number {
  if (processes === 1) return CONNECTIONS_AT_MOST;
  const others = CONNECTIONS_OF_FIRST_PROCESS + CONNECTIONS_FOR_LONG_WORK + CONNECTIONS_KEPT_FREE;
  const share = Math.floor((Math.min(limit, USUAL_CONNECTIONS) - others) / processes) - CONNECTIONS_TO_LISTEN;
  return Math.min(CONNECTIONS_AT_MOST, Math.max(CONNECTIONS_AT_LEAST, share));
}

/** How many connections a site of so many processes opens at most, with `each` of them for each process. */
export function connectionsNeeded(processes: number, each: number): number {
  const first = processes === 1 ? 0 : CONNECTIONS_OF_FIRST_PROCESS;
  return processes * (each + CONNECTIONS_TO_LISTEN) + first + CONNECTIONS_FOR_LONG_WORK;
}

/**
 * What one of several processes lets pass. A network's connections are spread over all of them, so each has its share, but no
 * less than one visitor may do: a browser keeps to one connection, and with it to one process.
 */
export function limitsOfOneProcess(limits: RateLimits, processes: number): RateLimits {
  const shared = Object.entries(limits).map(([action, { session, network }]): [string, ActionLimits] => [
    action,
    { ...(session && { session }), network: shareOf(network, processes, session?.amount ?? SEARCHES_AT_LEAST) },
  ]);
  return Object.fromEntries(shared) as RateLimits;
}

/** The same for open streams: so many a process, and its share of a network's. */
export function streamsOfOneProcess(limits: StreamLimits, processes: number): StreamLimits {
  const { perNetwork } = limits;
  return { ...limits, perNetwork: perNetwork === undefined ? undefined : Math.ceil(perNetwork / processes) };
}

function shareOf(rate: Rate, processes: number, atLeast: number): Rate {
  const share = Math.max(Math.ceil(rate.amount / processes), atLeast);
  return { ...rate, amount: Math.min(rate.amount, share) };
}
