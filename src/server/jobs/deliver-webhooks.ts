import { setTimeout as sleep } from 'node:timers/promises';
import { readDatabaseTime } from '../../core/database/clock.ts';
import type { Database } from '../../core/database/database.ts';
import type { Log } from '../../core/runtime.ts';
import {
  type DueEvent,
  EXPIRY_HOURS,
  expireEvents,
  isDeliveryDue,
  MAX_RETRY_DELAY_MS,
  readDueEvents,
  readWebhookStatus,
  receiverOf,
  recordDelivery,
  recordFailure,
  type WebhookStatus,
} from '../../core/webhooks/outbox.ts';
import { sendEvent, type WebhookReceiver } from '../../core/webhooks/send-event.ts';
import { type LeaseTimes, runUnderLease } from './run-under-lease.ts';

export interface WebhookDeliveries {
  /** Returns the last known state of the outbox and the receiver. It is read every thirty polls (15 seconds). */
  status(): WebhookStatus;
  /** The attempts of this process by outcome. `expired` counts the events that this process marked as expired. */
  attempts(): Readonly<Record<'delivered' | 'failed' | 'expired', number>>;
  close(): Promise<void>;
}

/**
 * Events are sent within `pollMs` of their scheduled time, or up to `leaseMs` later if the sending process is killed.
 */
export const LEASE_TIMES: LeaseTimes = { pollMs: 500, leaseMs: 10_000, retryMs: 5_000 };

const POLLS_PER_STATUS = 30;
/** Maximum number of concurrent requests to the receiver. */
const MAX_CONCURRENT = 4;

interface DeliveryOptions {
  log: Log;
  times?: LeaseTimes;
  /** How long the receiver may take to respond. */
  timeoutMs?: number;
  /** If unset, the database's clock is used. */
  now?: () => Promise<Date> | Date;
}

/**
 * Sends the events of the outbox to the receiver while the site runs, in the order of their scheduled times. Only one
 * process at a time sends events. Each event arrives at least once, unless it expires.
 */
export function deliverWebhooks(
  database: Database,
  target: WebhookReceiver,
  { log, times = LEASE_TIMES, timeoutMs, now = () => readDatabaseTime(database) }: DeliveryOptions,
): WebhookDeliveries {
  const receiver = receiverOf(target);
  const attempts = { delivered: 0, failed: 0, expired: 0 };
  let status: WebhookStatus = {
    waiting: 0,
    expired: 0,
    failingSince: null,
    lastFailure: null,
    goneAt: null,
  };
  /** Whether the last attempt of this process failed. */
  let isFailing = false;
  let statusReadAt = Number.NEGATIVE_INFINITY;
  const worker = runUnderLease(
    database,
    {
      lease: 'webhook deliveries',
      isDue: async () => isDeliveryDue(database, receiver, await now()),
      run: (_lease, signal) => deliverDue(signal),
      async afterPoll() {
        if (performance.now() - statusReadAt < POLLS_PER_STATUS * times.pollMs) return;
        const expired = await expireEvents(database, await now());
        // A delivery may have counted another event while this waited.
        attempts.expired += expired;
        status = await readWebhookStatus(database, receiver);
        statusReadAt = performance.now();
      },
      messages: {
        checkFailed: 'Cannot check whether webhooks are due; trying again',
        failed: 'Cannot read or write the webhook outbox; trying again',
        notRenewed: 'Cannot renew the lease for webhook deliveries',
      },
    },
    log,
    times,
  );

  /** Sends due events until none is left. The next event is sent when a request ends or an event becomes due. */
  async function deliverDue(signal: AbortSignal): Promise<void> {
    const open = new Map<string, Promise<void>>();
    const stopping = new AbortController();
    const stopped = AbortSignal.any([signal, stopping.signal]);
    let isGone = false;
    const begin = (event: DueEvent) => {
      const sending = deliver(event, stopped)
        .then((outcome) => {
          isGone ||= outcome === 'gone';
        })
        .catch((error: unknown) => stopping.abort(error))
        .finally(() => open.delete(event.id));
      open.set(event.id, sending);
    };
    const readNext = async (limit: number) => {
      try {
        return await readDueEvents(database, await now(), [...open.keys()], limit);
      } catch (error) {
        stopping.abort(error);
        return [];
      }
    };
    do {
      const free = isGone || stopped.aborted ? 0 : MAX_CONCURRENT - open.size;
      const due = free > 0 ? await readNext(free) : [];
      // The receiver may have responded 410 during the read.
      for (const event of isGone ? [] : due) begin(event);
      const nextPoll = due.length < free ? [sleep(times.pollMs, undefined, { ref: false })] : [];
      if (open.size > 0) await Promise.race([...open.values(), ...nextPoll]);
    } while (open.size > 0);
    // Throws the reason if deliveries were aborted: a database error, a lost lease, or the shutdown of the site.
    stopped.throwIfAborted();
  }

  async function deliver(event: DueEvent, signal: AbortSignal): Promise<'delivered' | 'failed' | 'gone'> {
    const attempt = await sendEvent(target, event, { now: await now(), signal, ...(timeoutMs && { timeoutMs }) });
    // An aborted request is not a failure of the receiver: another process, or this site after a restart, sends the
    // event again.
    signal.throwIfAborted();
    const at = await now();
    if (attempt.outcome === 'delivered') {
      await recordDelivery(database, receiver, event.id, at);
      attempts.delivered += 1;
      if (isFailing) log.info('Webhook deliveries have recovered');
      isFailing = false;
      return 'delivered';
    }
    const { outcome, failure } = attempt;
    const nextAttemptAt = new Date(at.getTime() + retryDelayMs(event.attempts));
    const failed = { id: event.id, failure, nextAttemptAt, isGone: outcome === 'gone' };
    const hasExpired = await recordFailure(database, receiver, failed, at);
    // Another process has delivered the event in the meantime.
    if (hasExpired === undefined) return 'delivered';
    attempts.failed += 1;
    attempts.expired += Number(hasExpired);
    const fields = { event: event.id, type: event.type, attempt: event.attempts + 1, failure };
    if (outcome === 'gone')
      log.error(
        'The webhook receiver responded 410 Gone, so deliveries are stopped. Correct or remove WEBHOOK_URL, or run `groundswell webhooks retry`.',
      );
    else if (hasExpired)
      log.warn(fields, 'A webhook expired before it was delivered. Run `groundswell webhooks retry` to send it again.');
    // Only the first failure is logged until a delivery succeeds, because thousands of events may wait for a receiver
    // that is down.
    else if (!isFailing) log.warn(fields, `Cannot deliver webhooks; retrying each event for ${EXPIRY_HOURS} hours`);
    isFailing = true;
    return outcome;
  }

  return { status: () => status, attempts: () => attempts, close: worker.close };
}

const FIRST_DELAY_MS = 5_000;

/**
 * Returns the delay before the next attempt. The delay doubles with each failed attempt, up to an hour. A random part
 * of up to half is subtracted, so a recovering receiver does not get all retries at the same time.
 */
export function retryDelayMs(failedBefore: number, random: () => number = Math.random): number {
  return Math.min(FIRST_DELAY_MS * 2 ** failedBefore, MAX_RETRY_DELAY_MS) * (1 - random() / 2);
}
