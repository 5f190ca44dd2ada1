import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DateTime } from 'luxon';
import type { Comment } from '../../contract/comments/schema.ts';
import type { StoredProduct } from '../../contract/products/schema.ts';
import type { Sql } from '../database/database.ts';
import { WINDOW_MS } from '../leaderboards/calendar.ts';
import { completeProduct, type PartialProduct } from '../products/save-products.ts';
import { DAY_MS } from '../runtime.ts';

/** The sample products with their upvotes and comments. No time in it is later than `loadedAt.now`. */
export interface SampleCatalogue {
  /** The time to which the catalogue was shifted, and the time zone in which its days begin. */
  loadedAt: SampleTime;
  products: readonly StoredProduct[];
  comments: readonly Comment[];
  upvotes: readonly SampleUpvote[];
}

export interface SampleTime {
  now: string;
  timeZone: string;
}

interface SampleUpvote {
  productId: string;
  session: string;
  createdAt: string;
  verdict: 'network' | null;
}

/**
 * The numbers of a product's upvotes: counted in its launch window, excluded by the network cap, and cast after the
 * window.
 */
interface UpvoteCounts {
  inWindow: number;
  excluded?: number;
  later?: number;
}

/**
 * The prefix of the sessions of sample upvotes. Visitors' sessions cannot contain a colon, so visitors cannot withdraw
 * these upvotes.
 */
export const SAMPLE_SESSION_PREFIX = 'sample:';

/**
 * Today's launches need at least this much of the day. If less time has passed since midnight, the catalogue ends with
 * the previous day.
 */
const MIN_DAY_MS = 60_000;

/**
 * Reads the catalogue in `directory` and shifts its times, so its last day becomes the day of `loadedAt.now`, or the
 * previous day if that day has just begun (see `MIN_DAY_MS`).
 */
export async function readSampleCatalogue(
  directory: string,
  loadedAt: SampleTime = { now: new Date().toISOString(), timeZone: 'UTC' },
): Promise<SampleCatalogue> {
  const read = async <Content>(name: string): Promise<Content> =>
    JSON.parse(await readFile(join(directory, name), 'utf8'));
  const [products, comments, upvotes] = await Promise.all([
    read<(PartialProduct & { createdAt: string })[]>('products.json'),
    read<Comment[]>('comments.json'),
    read<Record<string, UpvoteCounts>>('upvotes.json'),
  ]);
  const lastDay = Math.floor(Math.max(...products.map(({ createdAt }) => Date.parse(createdAt))) / DAY_MS);
  const shift = createTimeShift(lastDay, loadedAt);
  const shifted = products.map((product) =>
    completeProduct({ ...product, createdAt: shift(product.createdAt) }, new Date(0)),
  );
  return {
    loadedAt,
    products: shifted,
    comments: comments.map((comment) => ({ ...comment, createdAt: shift(comment.createdAt) })),
    upvotes: shifted.flatMap(({ id, createdAt }) => {
      const numbers = upvotes[id];
      return numbers ? generateUpvotes(id, Date.parse(createdAt), numbers, Date.parse(loadedAt.now)) : [];
    }),
  };
}

/**
 * Returns a function that shifts times. The last day becomes the day of `now`, and its times are compressed into the
 * part of the day that has passed, so a new site has launches today and none in the future. On other days, the time
 * since midnight does not change.
 */
function createTimeShift(lastDay: number, { now, timeZone }: SampleTime): (time: string) => string {
  const instant = DateTime.fromISO(now, { zone: timeZone });
  const isTooEarly = instant.diff(instant.startOf('day')).toMillis() < MIN_DAY_MS;
  const end = isTooEarly ? instant.startOf('day').minus({ milliseconds: 1 }) : instant;
  const today = end.startOf('day');
  const passedShare = end.diff(today).toMillis() / DAY_MS;
  return (time) => {
    const ms = Date.parse(time);
    const daysAgo = lastDay - Math.floor(ms / DAY_MS);
    const timeOfDay = ms % DAY_MS;
    const sinceStart = daysAgo === 0 ? Math.floor(timeOfDay * passedShare) : timeOfDay;
    return new Date(today.minus({ days: daysAgo }).toMillis() + sinceStart).toISOString();
  };
}

/**
 * Creates upvotes spread over the elapsed part of the launch window, and upvotes after the window. The last `excluded`
 * upvotes in the window exceed the network cap.
 */
function generateUpvotes(
  productId: string,
  launchedAt: number,
  { inWindow, excluded = 0, later = 0 }: UpvoteCounts,
  now: number,
): SampleUpvote[] {
  const windowEnd = launchedAt + WINDOW_MS;
  const between = (from: number, to: number, count: number, kind: string) =>
    Array.from(
      { length: count },
      (_, index) => from + Math.floor((to - from) * pseudoRandom(`${kind}:${productId}:${index}`)),
    )
      .sort((one, other) => one - other)
      .map((time) => new Date(time).toISOString());
  const times = [
    ...between(launchedAt, Math.min(windowEnd, now), inWindow + excluded, 'window'),
    ...between(windowEnd, now, later, 'later'),
  ];
  return times.map((createdAt, index) => ({
    productId,
    session: `${SAMPLE_SESSION_PREFIX}${productId}:${index}`,
    createdAt,
    verdict: index >= inWindow && index < inWindow + excluded ? 'network' : null,
  }));
}

/** Returns a pseudo-random number in [0, 1) that depends only on the text. */
function pseudoRandom(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}

/** The keys in the table `site_metadata` that describe the sample catalogue. */
type MetadataName = 'sample_catalogue' | 'sample_loaded_at';

export async function getSiteMetadata(sql: Sql, name: MetadataName): Promise<string | undefined> {
  const [row] = await sql.query<{ value: string }>('SELECT value FROM site_metadata WHERE name = $1', [name]);
  return row?.value;
}

export async function setSiteMetadata(sql: Sql, name: MetadataName, value: string): Promise<void> {
  await sql.query(
    'INSERT INTO site_metadata (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value',
    [name, value],
  );
}

export async function deleteSiteMetadata(sql: Sql, name: MetadataName): Promise<void> {
  await sql.query('DELETE FROM site_metadata WHERE name = $1', [name]);
}
