import type { Database } from '../../core/database/database.ts';
import { type Log, type Runtime, systemRuntime } from '../../core/runtime.ts';
import { BURST_SESSIONS, deleteOldBursts, saveUpvoteBursts, type UpvoteBurst } from '../../core/stats/upvote-bursts.ts';
import { createNetworkKeys, type NetworkKeys, sitePrefix } from './network-keys.ts';

/** The visitor who upvoted, or withdrew an upvote. */
interface Voter {
  session: string;
  address: string | undefined;
}

/** Detects many sessions of one network that upvote one product within an hour. */
export interface UpvoteBursts {
  note(productId: string, voter: Voter, upvoted: boolean): void;
  /** Saves new bursts, and forgets the hour once it is over. Never rejects. */
  flush(): Promise<void>;
}

interface UpvoteBurstsOptions {
  now(): number;
  /** Saves bursts for the operator; there may be none. */
  save(bursts: readonly UpvoteBurst[]): Promise<void>;
  log: Log;
}

const HOUR_MS = 60 * 60 * 1_000;

/** Enough to distinguish the networks of an hour. */
const NAME_CHARACTERS = 8;

/** Votes remembered per hour: some 30 MB. Further ones are not watched until the hour is over. */
const MAX_VOTES = 200_000;

/**
 * Watches in memory, by the hour. Networks are hashed as in the rate limiter (`network-keys.ts`), under a salt that lives as long
 * as the hour: what is saved identifies no network, even across hours. Below `BURST_SESSIONS` nothing is saved. For IPv6, sessions
 * are counted by /64 and by /48, since one customer may have all networks of a /48.
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
      log.warn({ err: error }, 'Could not save bursts of upvotes; trying again');
      // The next flush saves all of this hour again.
      hour.written.clear();
    }
  }

  return {
    note(productId, { session, address }, upvoted) {
      const over = turn();
      if (over) void write(unwritten(over));
      const vote = { productId, session, upvoted };
      const site = sitePrefix(address).length > 0 ? noteIn(hour, hour.siteKeys(address).current, vote) : undefined;
      noteIn(hour, hour.keys(address).current, vote, site);
    },
    async flush() {
      const over = turn();
      await write([...(over ? unwritten(over) : []), ...unwritten(hour)]);
    },
  };
}

interface Hour {
  startsAt: number;
  keys: NetworkKeys;
  /** The keys of the /48 around an IPv6 network. */
  siteKeys: NetworkKeys;
  /** By network and product. */
  voters: Map<string, Voters>;
  votes: number;
  /** How many sessions were saved last, by the same key. */
  written: Map<string, number>;
}

/** The sessions of one network that upvoted one product. */
interface Voters {
  sessions: Set<string>;
  /** The /48 that a /64 is part of. */
  site: Voters | undefined;
}

function startHour(moment: number): Hour {
  const startsAt = Math.floor(moment / HOUR_MS) * HOUR_MS;
  // On a stopped clock, the salt lasts as long as the hour.
  const keys = createNetworkKeys(() => startsAt);
  const siteKeys = createNetworkKeys(() => startsAt, sitePrefix);
  return { startsAt, keys, siteKeys, voters: new Map(), votes: 0, written: new Map() };
}

interface Vote {
  productId: string;
  session: string;
  upvoted: boolean;
}

function noteIn(hour: Hour, network: string, { productId, session, upvoted }: Vote, site?: Voters): Voters {
  const key = `${network.slice(0, NAME_CHARACTERS)} ${productId}`;
  const voters = hour.voters.get(key) ?? { sessions: new Set(), site };
  if (!upvoted) {
    if (voters.sessions.delete(session)) hour.votes -= 1;
  } else if (!voters.sessions.has(session) && hour.votes < MAX_VOTES) {
    hour.votes += 1;
    hour.voters.set(key, voters);
    voters.sessions.add(session);
  }
  return voters;
}

function unwritten({ startsAt, voters, written }: Hour): UpvoteBurst[] {
  const bursts: UpvoteBurst[] = [];
  // A /48 whose votes all came from one of its /64s would be the same burst again.
  const largestParts = new Map<Set<string>, number>();
  for (const { sessions, site } of voters.values()) {
    if (site) largestParts.set(site.sessions, Math.max(largestParts.get(site.sessions) ?? 0, sessions.size));
  }
  for (const [key, { sessions }] of voters) {
    const { size } = sessions;
    if (size < BURST_SESSIONS || written.get(key) === size) continue;
    if (largestParts.get(sessions) === size) continue;
    written.set(key, size);
    const [network = '', productId = ''] = key.split(' ');
    bursts.push({ hour: new Date(startsAt).toISOString(), productId, network, sessions: size });
  }
  return bursts;
}

/** How often bursts are saved, and old ones deleted. */
const FLUSH_INTERVAL_MS = 60_000;

/** Watches for bursts while the site runs. */
export function watchBursts(
  database: Database,
  log: Log,
  runtime: Runtime = systemRuntime,
): UpvoteBursts & { close(): Promise<void> } {
  const bursts = createUpvoteBursts({
    now: () => runtime.now().getTime(),
    log,
    save: (found) => saveUpvoteBursts(database, found),
  });
  const forget = () =>
    deleteOldBursts(database, runtime.now()).catch((error: unknown) =>
      log.warn({ err: error }, 'Could not delete old bursts of upvotes; trying again later'),
    );
  const timer = setInterval(() => void bursts.flush().then(forget), FLUSH_INTERVAL_MS).unref();
  return {
    ...bursts,
    async close() {
      clearInterval(timer);
      await bursts.flush();
    },
  };
}
