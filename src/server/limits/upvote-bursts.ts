import type { Log } from '../../core/log.ts';
import { BURST_SESSIONS, type UpvoteBurst } from '../../core/stats/upvote-bursts.ts';
import { createNetworkKeys } from './network-keys.ts';

/** Who upvoted, or took it back. */
export interface Voter {
  session: string;
  address: string | undefined;
}

/** Notices when many sessions of one network upvote one product within an hour. */
export interface UpvoteBursts {
  note(productId: string, voter: Voter, upvoted: boolean): void;
  /** Writes down what is new, and forgets the hour where it is over. Never rejects. */
  flush(): Promise<void>;
}

export interface UpvoteBurstsOptions {
  now(): number;
  /** Writes bursts down for the operator; there may be none. */
  save(bursts: readonly UpvoteBurst[]): Promise<void>;
  log: Log;
}

const HOUR_MS = 60 * 60 * 1_000;

/** Enough to tell the networks of an hour apart. */
const NAME_CHARACTERS = 8;

/** Votes of an hour that are remembered at most: some 30 MB. Whatever comes then is not watched until the hour is over. */
const MOST_VOTES = 200_000;

/**
 * Watches in memory, hour by hour. Networks have names as the rate limiter's have (`network-keys.ts`), but under a salt that is
 * made for the hour and gone with it: nobody can tell by what is written down which network that was, nor whether it came
 * again in another hour. Below `BURST_SESSIONS` nothing is written down.
 */
export function createUpvoteBursts({ now, save, log }: UpvoteBurstsOptions): UpvoteBursts {
  let hour = startHour(now());

  /** @returns the hour that is over, if one is. */
  function turn(): Hour | undefined {
    if (Math.floor(now() / HOUR_MS) * HOUR_MS === hour.startsAt) return undefined;
    const over = hour;
    hour = startHour(now());
    return over;
  }

  async function write(bursts: readonly UpvoteBurst[]): Promise<void> {
    try {
      await save(bursts);
    } catch (error) {
      log.warn({ err: error }, 'Bursts of upvotes could not be written down');
      // All of this hour again, the next time.
      hour.written.clear();
    }
  }

  return {
    note(productId, { session, address }, upvoted) {
      const over = turn();
      if (over) void write(unwritten(over));
      noteIn(hour, `${hour.keys(address).current.slice(0, NAME_CHARACTERS)} ${productId}`, session, upvoted);
    },
    async flush() {
      const over = turn();
      await write([...(over ? unwritten(over) : []), ...unwritten(hour)]);
    },
  };
}

interface Hour {
  startsAt: number;
  keys: ReturnType<typeof createNetworkKeys>;
  /** Sessions by network and product. */
  sessions: Map<string, Set<string>>;
  votes: number;
  /** How many sessions were written down last, by the same key. */
  written: Map<string, number>;
}

function startHour(moment: number): Hour {
  const startsAt = Math.floor(moment / HOUR_MS) * HOUR_MS;
  // A clock of its own that stands still: the salt lasts as long as the hour does.
  return { startsAt, keys: createNetworkKeys(() => startsAt), sessions: new Map(), votes: 0, written: new Map() };
}

function noteIn(hour: Hour, key: string, session: string, upvoted: boolean): void {
  const sessions = hour.sessions.get(key);
  if (!upvoted) {
    if (sessions?.delete(session)) hour.votes -= 1;
    return;
  }
  if (sessions?.has(session) || hour.votes >= MOST_VOTES) return;
  hour.votes += 1;
  if (sessions) sessions.add(session);
  else hour.sessions.set(key, new Set([session]));
}

function unwritten({ startsAt, sessions, written }: Hour): UpvoteBurst[] {
  const bursts: UpvoteBurst[] = [];
  for (const [key, { size }] of sessions) {
    if (size < BURST_SESSIONS || written.get(key) === size) continue;
    written.set(key, size);
    const [network = '', productId = ''] = key.split(' ');
    bursts.push({ hour: new Date(startsAt).toISOString(), productId, network, sessions: size });
  }
  return bursts;
}
