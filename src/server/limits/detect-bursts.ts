import type { Database } from '../../core/database/database.ts';
import { HOUR_MS, type Log } from '../../core/runtime.ts';
import { BURST_SESSIONS, saveUpvoteBursts, type UpvoteBurst } from '../../core/stats/upvote-bursts.ts';
import { createNetworkKeys, type NetworkKeys, prefix48 } from './network-keys.ts';

/** The visitor who upvoted, or withdrew an upvote. */
interface Voter {
  session: string;
  address: string | undefined;
}

/** Detects bursts: upvotes for a product by many sessions of one network within a clock hour. */
export interface UpvoteBursts {
  record(productId: string, voter: Voter, upvoted: boolean): void;
  /** Returns the number of pairs of a network and a product whose votes are in memory. */
  size(): number;
  /** Saves new and changed bursts, and discards the votes of an hour that has ended. Never rejects. */
  flush(): Promise<void>;
}

interface UpvoteBurstsOptions {
  /** Returns the time in milliseconds since 1970. */
  now(): number;
  /** Saves bursts for the operator. The list may be empty. */
  save(bursts: readonly UpvoteBurst[]): Promise<void>;
  log: Log;
  maxVotes?: number;
}

/** The length to which hashes of networks are shortened, enough to distinguish the networks of an hour. */
const NAME_CHARACTERS = 8;

/**
 * Maximum number of votes counted per hour. They take about 30 MB, or 60 MB if all are from IPv6. Further votes are
 * ignored.
 */
const MAX_VOTES = 200_000;

/**
 * Counts votes in memory, separately for each hour. Networks are hashed as in `network-keys.ts`, with a new salt every
 * hour. Saved hashes therefore do not identify a network, and those from different hours cannot be linked. IPv6
 * sessions are counted by /64 and by /48, because one customer may have all networks of a /48.
 */
export function createUpvoteBursts({ now, save, log, maxVotes = MAX_VOTES }: UpvoteBurstsOptions): UpvoteBursts {
  let hour = startHour(now());
  /** The maximum number of bursts in `ended`: as many as one hour can have if each vote counts for a /64 and a /48. */
  const maxEnded = (2 * maxVotes) / BURST_SESSIONS;
  /** Bursts of hours that have ended, until they are saved. */
  let ended = new Map<string, UpvoteBurst>();

  function startHourIfDue(): void {
    if (Math.floor(now() / HOUR_MS) * HOUR_MS === hour.startsAt) return;
    retain(takeUnsavedBursts(hour));
    hour = startHour(now());
  }

  function retain(bursts: readonly UpvoteBurst[]): void {
    for (const burst of bursts) {
      const key = `${burst.hour} ${burst.network} ${burst.productId}`;
      if (!ended.has(key) && ended.size < maxEnded) ended.set(key, burst);
    }
  }

  return {
    record(productId, { session, address }, upvoted) {
      startHourIfDue();
      if (upvoted && hour.votes >= maxVotes) {
        if (!hour.isFull) log.warn({ votes: maxVotes }, 'Too many upvotes to detect further bursts in this hour');
        hour.isFull = true;
        return;
      }
      const vote = { productId, session, upvoted };
      const is48 = prefix48(address).length > 0;
      const whole48 = is48 ? addVote(hour, hour.keys48(address).current, vote).voters : undefined;
      hour.votes += addVote(hour, hour.keys(address).current, vote, whole48).added;
    },
    size: () => hour.voters.size,
    async flush() {
      startHourIfDue();
      const { startsAt, savedSizes } = hour;
      const current = takeUnsavedBursts(hour);
      const earlier = [...ended.values()];
      ended = new Map();
      try {
        await save([...earlier, ...current]);
      } catch (error) {
        log.warn(
          { err: error },
          'Cannot save upvote bursts; they stay in memory until they are saved or the process stops',
        );
        // Without the saved sizes, the next flush saves all bursts of the current hour again.
        savedSizes.clear();
        retain(startsAt === hour.startsAt ? earlier : [...earlier, ...current]);
      }
    },
  };
}

interface Hour {
  startsAt: number;
  keys: NetworkKeys;
  /** The keys of IPv6 addresses by their /48 prefix. */
  keys48: NetworkKeys;
  /** Voters, keyed by network and product. */
  voters: Map<string, Voters>;
  votes: number;
  /** Whether votes were ignored because of the maximum. */
  isFull: boolean;
  /** The number of sessions of each burst when it was last saved, by the keys of `voters`. */
  savedSizes: Map<string, number>;
}

/** The sessions of one network that upvoted one product. */
interface Voters {
  sessions: Set<string>;
  /** The voters of the /48 that contains this /64. */
  whole48: Voters | undefined;
}

function startHour(time: number): Hour {
  const startsAt = Math.floor(time / HOUR_MS) * HOUR_MS;
  // With a fixed time, the salt of the keys is not replaced during the hour.
  const keys = createNetworkKeys(() => startsAt);
  const keys48 = createNetworkKeys(() => startsAt, prefix48);
  return { startsAt, keys, keys48, voters: new Map(), votes: 0, isFull: false, savedSizes: new Map() };
}

interface Vote {
  productId: string;
  session: string;
  upvoted: boolean;
}

/** Adds or withdraws a vote. @returns the voters of the network, and the change of their number. */
function addVote(
  hour: Hour,
  network: string,
  { productId, session, upvoted }: Vote,
  whole48?: Voters,
): { voters: Voters; added: number } {
  const key = `${network.slice(0, NAME_CHARACTERS)} ${productId}`;
  const voters = hour.voters.get(key) ?? { sessions: new Set(), whole48 };
  const { size } = voters.sessions;
  if (upvoted) {
    // The voters of the /48 may have been deleted and created again since the last vote from this /64.
    voters.whole48 = whole48;
    hour.voters.set(key, voters);
    voters.sessions.add(session);
  } else {
    voters.sessions.delete(session);
    if (voters.sessions.size === 0) hour.voters.delete(key);
  }
  return { voters, added: voters.sessions.size - size };
}

function takeUnsavedBursts({ startsAt, voters, savedSizes }: Hour): UpvoteBurst[] {
  const bursts: UpvoteBurst[] = [];
  // A burst of a /48 is omitted if all its votes came from one of its /64s, because the burst of the /64 is reported.
  const largestParts = new Map<Set<string>, number>();
  for (const { sessions, whole48 } of voters.values()) {
    if (whole48) largestParts.set(whole48.sessions, Math.max(largestParts.get(whole48.sessions) ?? 0, sessions.size));
  }
  for (const [key, { sessions }] of voters) {
    const { size } = sessions;
    if (size < BURST_SESSIONS || savedSizes.get(key) === size) continue;
    if (largestParts.get(sessions) === size) continue;
    savedSizes.set(key, size);
    const [network = '', productId = ''] = key.split(' ');
    bursts.push({ hour: new Date(startsAt).toISOString(), productId, network, sessions: size });
  }
  return bursts;
}

const FLUSH_INTERVAL_MS = 60_000;

/** Detects and saves bursts while the site runs. `now` is the site's clock, which also dates votes. */
export function watchBursts(database: Database, log: Log, now: () => Date): UpvoteBursts & { close(): Promise<void> } {
  const bursts = createUpvoteBursts({
    now: () => now().getTime(),
    log,
    save: (found) => saveUpvoteBursts(database, found),
  });
  const timer = setInterval(() => void bursts.flush(), FLUSH_INTERVAL_MS).unref();
  return {
    ...bursts,
    async close() {
      clearInterval(timer);
      await bursts.flush();
    },
  };
}
