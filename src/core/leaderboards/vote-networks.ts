import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isProductId } from '../../contract/products/fields.ts';
import type { Change } from '../changes/change-feed.ts';
import type { Sql } from '../database/database.ts';
import { HOUR_MS, type Runtime } from '../runtime.ts';
import { dayAt, uuidOf, WINDOW_MS } from './calendar.ts';

/** A network from which votes for a product were cast in the product's launch window. */
export interface VoteNetwork {
  productId: string;
  network: string;
}

/** Whether a product accepts votes, and the network of the voter. */
interface VotingStatus {
  /** Whether the product exists and has launched. */
  hasLaunched: boolean;
  /**
   * The voter's network, for `upvotes.network`; unset outside the launch window, where networks do not matter, and if
   * the address is unknown.
   */
  network?: string | undefined;
}

/**
 * Looks up when products launch, and identifies the voters' networks by an HMAC whose key is the secret of the launch
 * day.
 */
export interface VoteNetworks {
  /**
   * Looks up whether a product accepts votes, and the voter's network. `prefix` is the network part of the voter's
   * address; unset if the address is unknown.
   * @throws CoreError `unavailable`.
   */
  lookUp(productId: string, prefix: Uint8Array | undefined): Promise<VotingStatus> | VotingStatus;
  /** Removes changed products from the cache of launch times. */
  onChange(change: Change): void;
  /** Clears the cache, because changes may have been missed. */
  onGap(): void;
}

/**
 * The launch times of a product in milliseconds since 1970, and the secret of its launch day while its window is open.
 */
interface Launch {
  /** When the product becomes visible; differs from `launchedAt` after an edit that did not move the launch. */
  visibleFrom: number;
  launchedAt: number;
  secret: Buffer | undefined;
}

const NO_LAUNCH: Launch = { visibleFrom: Number.NaN, launchedAt: Number.NaN, secret: undefined };

interface LaunchRow {
  created_at: Date;
  launched_at: Date;
  /** Null until the launch is placed on its boards, and again after its launch time changes. */
  day: string | null;
}

const SELECT_LAUNCH = `SELECT p.created_at, l.launched_at, CASE WHEN l.placed_for = l.launched_at THEN l.day END AS day
  FROM products p JOIN launches l ON l.product_id = p.id WHERE p.id = $1`;

const MAX_LAUNCHES = 20_000;

/** Maximum age of a cached launch. Limits how long a secret is used before it is read again. */
const MAX_AGE_MS = HOUR_MS;

export function createVoteNetworks(
  sql: Sql,
  { runtime, timeZone }: { runtime: Runtime; timeZone: string },
): VoteNetworks {
  const launches = new LRUCache<string, Launch>({
    max: MAX_LAUNCHES,
    ttl: MAX_AGE_MS,
    perf: { now: runtime.monotonicMs },
  });

  /**
   * Counts changes that may affect launch times, so the result of a read that began before such a change is not cached.
   */
  let changes = 0;

  async function read(productId: string): Promise<Launch> {
    // Texts that are not ids are neither cached nor queried: they can be long, and PostgreSQL would reject some of
    // them.
    if (!isProductId(productId)) return NO_LAUNCH;
    const changesBefore = changes;
    const [row] = await sql.query<LaunchRow>(SELECT_LAUNCH, [productId], { isPrepared: true });
    const launch = row ? await launchOf(row) : NO_LAUNCH;
    if (changes === changesBefore) launches.set(productId, launch);
    return launch;
  }

  async function launchOf(row: LaunchRow): Promise<Launch> {
    const launchedAt = row.launched_at.getTime();
    // A placed launch stays in its day when SITE_TIME_ZONE changes.
    const day = row.day ?? dayAt(row.launched_at, timeZone);
    const secret = isOpen(launchedAt) ? await readSecret(sql, day, runtime) : undefined;
    return { visibleFrom: row.created_at.getTime(), launchedAt, secret };
  }

  function isOpen(launchedAt: number): boolean {
    const age = runtime.now().getTime() - launchedAt;
    return age >= 0 && age < WINDOW_MS;
  }

  function statusOf({ visibleFrom, launchedAt, secret }: Launch, prefix: Uint8Array | undefined): VotingStatus {
    const network = prefix && secret && isOpen(launchedAt) ? networkOf(secret, prefix) : undefined;
    return { hasLaunched: visibleFrom <= runtime.now().getTime(), network };
  }

  return {
    lookUp(productId, prefix) {
      const cached = launches.get(productId);
      // A launch that was cached before its window began has no secret.
      const isCurrent = cached && (cached.secret !== undefined || !isOpen(cached.launchedAt));
      return isCurrent ? statusOf(cached, prefix) : read(productId).then((launch) => statusOf(launch, prefix));
    },
    onChange({ productIds, catalogue }) {
      if (!catalogue) return;
      changes += 1;
      for (const id of productIds) launches.delete(id);
    },
    onGap() {
      changes += 1;
      launches.clear();
    },
  };
}

/**
 * Returns the pseudonym of a network as a UUID: the HMAC of its prefix. For votes, the key is the secret of the day.
 */
export function networkOf(secret: Buffer, prefix: Uint8Array): string {
  return uuidOf(createHmac('sha256', secret).update('network\n').update(prefix).digest('hex'));
}

const ADD_SECRET = `INSERT INTO tally_secrets (day, secret, created_at) VALUES ($1, $2, $3::timestamptz) ON CONFLICT (day) DO NOTHING`;

/**
 * Reads the secret of a day, and creates it if this process is the first to need it.
 * @returns undefined if the day is final.
 * @throws CoreError `unavailable`.
 */
export async function readSecret(sql: Sql, day: string, runtime: Runtime): Promise<Buffer | undefined> {
  const present = await findSecret(sql, day);
  if (present) return present;
  const final = await sql.query('SELECT FROM leaderboards WHERE period = $1 AND final_at IS NOT NULL', [day]);
  if (final.length > 0) return undefined;
  await sql.query(ADD_SECRET, [day, randomBytes(32), runtime.now().toISOString()]);
  return findSecret(sql, day);
}

/** Reads the secret of a day. @returns undefined if there is none. */
export async function findSecret(sql: Sql, day: string): Promise<Buffer | undefined> {
  const [row] = await sql.query<{ secret: Buffer }>('SELECT secret FROM tally_secrets WHERE day = $1', [day]);
  return row?.secret;
}
