import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import { type Runtime, systemRuntime } from '../../core/runtime.ts';

/**
 * For a few seconds after a write, the visitor has a cookie with the time of the write: pages may lag behind others'
 * writes, but not behind the visitor's own. The cookie does not identify the visitor.
 */
const NAME = 'last_write';
const MAX_AGE_S = 10;

const PATTERN = new RegExp(`(?:^|;\\s*)${NAME}=([0-9a-f]{8})-(\\d{1,15})-(\\d{1,15})(?:;|$)`);

/** The monotonic clock of another process has another origin, so the cookie identifies the process that set it. */
const PROCESS = randomBytes(4).toString('hex');

/**
 * The process in the cookie of a visitor who has written in several: each of them must serve responses that include the
 * writes in the others.
 */
const SEVERAL_PROCESSES = '00000000';

/** The tolerated difference between the wall clocks of two machines. */
const MAX_CLOCK_DIFFERENCE_MS = 500;

/**
 * The age of a cookie from another process is measured with the system clock, which the processes of one machine share.
 * Their estimates of the database's time are not used, because they may differ on a busy machine.
 */
type SystemClock = () => Date;

/** Records in the visitor's browser that a write of the visitor has just been committed. */
export function setLastWriteCookie(
  reply: FastifyReply,
  { monotonicMs }: Runtime,
  systemNow: SystemClock = systemRuntime.now,
): void {
  const previous = PATTERN.exec(reply.request.headers.cookie ?? '')?.[1] ?? PROCESS;
  const process = previous === PROCESS ? PROCESS : SEVERAL_PROCESSES;
  const value = `${process}-${Math.ceil(monotonicMs())}-${systemNow().getTime()}`;
  reply.header('Set-Cookie', `${NAME}=${value}; Path=/; Max-Age=${MAX_AGE_S}; HttpOnly; SameSite=Lax`);
}

export function hasLastWrite(cookie: string): boolean {
  return PATTERN.test(cookie);
}

/**
 * Returns a time of the monotonic clock: responses produced after it include the visitor's own writes. Returns
 * undefined without a recent write. The time is never in the future, even if the cookie is forged.
 */
export function lastWriteOf(
  { headers: { cookie } }: Pick<IncomingMessage, 'headers'>,
  { monotonicMs }: Runtime,
  systemNow: SystemClock = systemRuntime.now,
): number | undefined {
  const [, process, claimedMonotonicMs, claimedWallMs] = (cookie !== undefined && PATTERN.exec(cookie)) || [];
  if (process === undefined) return undefined;
  const now = monotonicMs();
  if (process === PROCESS) return Math.min(Number(claimedMonotonicMs), now);
  const ageMs = systemNow().getTime() - Number(claimedWallMs) - MAX_CLOCK_DIFFERENCE_MS;
  // Browsers drop older cookies, so above the maximum, a clock jumped; below zero, the write may also be very recent.
  return ageMs < 0 || ageMs > MAX_AGE_S * 1_000 ? now : now - ageMs;
}

/**
 * Returns the same as `lastWriteOf`, but only for writes in other processes. Within a process, a write invalidates
 * cached API responses before it is acknowledged; other processes are notified slightly later.
 */
export function lastWriteElsewhere(
  request: Pick<IncomingMessage, 'headers'>,
  runtime: Runtime,
  systemNow: SystemClock = systemRuntime.now,
): number | undefined {
  const isOfThisProcess = PATTERN.exec(request.headers.cookie ?? '')?.[1] === PROCESS;
  return isOfThisProcess ? undefined : lastWriteOf(request, runtime, systemNow);
}
