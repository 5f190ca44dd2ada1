import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import { type Runtime, systemRuntime } from '../../core/runtime.ts';

/**
 * Monotonic clocks of different processes cannot be compared, so the cookie's name identifies the process that set it.
 */
const PROCESS = randomBytes(4).toString('hex');

/**
 * For ten seconds after a write, the visitor has a cookie with the time of the write. Pages may lag behind the writes
 * of other visitors, but not behind the visitor's own. The cookie does not identify the visitor. Each process sets its
 * own cookie, because concurrent writes in several processes would overwrite a shared one. The cookies expire quickly,
 * so few accumulate.
 */
const NAME = `last_write_${PROCESS}`;
const MAX_AGE_S = 10;

const PATTERN = /(?:^|;\s*)last_write_([0-9a-f]{8})=(\d{1,15})-(\d{1,15})(?=;|$)/g;

/** The tolerated difference between the wall clocks of two machines. */
const MAX_CLOCK_DIFFERENCE_MS = 500;

/**
 * The age of a cookie from another process is measured with the system clock, which the processes of one machine share.
 * The database's time is not used: each process only estimates it, and the estimates may differ on a busy machine.
 */
type SystemClock = () => Date;

/** Sets the last-write cookie. Call this after a write by the visitor has been committed. */
export function setLastWriteCookie(
  reply: FastifyReply,
  { monotonicMs }: Runtime,
  systemNow: SystemClock = systemRuntime.now,
): void {
  const value = `${Math.ceil(monotonicMs())}-${systemNow().getTime()}`;
  reply.header('Set-Cookie', `${NAME}=${value}; Path=/; Max-Age=${MAX_AGE_S}; HttpOnly; SameSite=Lax`);
}

export function hasLastWrite(cookie: string): boolean {
  return cookie.search(PATTERN) !== -1;
}

/**
 * Returns the time of the visitor's last write on the monotonic clock, or a slightly later time. Responses produced
 * after the returned time include the write. Returns undefined if there was no recent write. The time is never in the
 * future, even if the cookie is forged.
 */
export function lastWriteOf(
  { headers: { cookie } }: Pick<IncomingMessage, 'headers'>,
  { monotonicMs }: Runtime,
  systemNow: SystemClock = systemRuntime.now,
  isOnlyElsewhere = false,
): number | undefined {
  const now = monotonicMs();
  const times = [...(cookie ?? '').matchAll(PATTERN)]
    .filter(([, process]) => !isOnlyElsewhere || process !== PROCESS)
    .map(([, process, claimedMonotonicMs, claimedWallMs]) => {
      if (process === PROCESS) return Math.min(Number(claimedMonotonicMs), now);
      const ageMs = systemNow().getTime() - Number(claimedWallMs) - MAX_CLOCK_DIFFERENCE_MS;
      // Browsers drop older cookies, so an age above the maximum means that a clock jumped. An age below zero may also
      // mean that the write is very recent.
      return ageMs < 0 || ageMs > MAX_AGE_S * 1_000 ? now : now - ageMs;
    });
  return times.length === 0 ? undefined : Math.max(...times);
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
  return lastWriteOf(request, runtime, systemNow, true);
}
