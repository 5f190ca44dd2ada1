import { createHmac } from 'node:crypto';
import type { ExclusionReason, LeaderboardStatus } from '../../contract/leaderboards/schema.ts';
import { uuidOf } from './tie-order.ts';

/** The first line of a tally. Times are ISO 8601 in UTC. */
export interface TallyHeader {
  period: string;
  timeZone: string;
  from: string;
  to: string;
  status: LeaderboardStatus;
  revision: number;
  products: { id: string; launchedAt: string }[];
}

/** One vote that was cast inside the window of its product. */
export interface TallyVote {
  product: string;
  /** The session, hashed by `voterOf`. */
  voter: string;
  at: Date;
  reason: ExclusionReason | null;
}

/** The header as a line of JSON; the order of the fields is part of the digest. */
export function headerLine(header: TallyHeader): string {
  const { period, timeZone, from, to, status, revision, products } = header;
  return `${JSON.stringify({ tally: 1, period, timeZone, from, to, status, revision, products })}\n`;
}

/** A vote as a line of JSON; its time in whole seconds. */
export function voteLine({ product, voter, at, reason }: TallyVote): string {
  return `${JSON.stringify({ product, voter, at: wholeSeconds(at), counted: reason === null, reason })}\n`;
}

export function wholeSeconds(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}

/**
 * The name of a voter in the tally of a day: the first 128 bits of HMAC-SHA256(secret of the day, "voter\n" +
 * session). Once the secret is destroyed, it cannot be linked to a session.
 */
export function voterOf(secret: Buffer, session: string): string {
  return createHmac('sha256', secret).update(`voter\n${session}`).digest('hex').slice(0, 32);
}

/** The name of a network under the secret of a day, as a UUID, by which votes are capped. */
export function networkOf(secret: Buffer, prefix: Uint8Array): string {
  return uuidOf(createHmac('sha256', secret).update('network\n').update(prefix).digest('hex'));
}
