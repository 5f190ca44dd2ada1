import { createHmac } from 'node:crypto';
import { systemCode } from '../file-system.ts';

/** The receiver of events, without the keys that sign them. */
export interface ReceiverAddress {
  /** The URL without user and password. */
  url: string;
  /** The value of the header `Authorization`, with the user and password of the URL; unset if the URL has none. */
  authorization?: string | undefined;
}

export interface WebhookReceiver extends ReceiverAddress {
  /** The decoded keys of the `whsec_` secrets. Each event is signed with every key. */
  secrets: readonly Uint8Array[];
}

export type Attempt = { outcome: 'delivered'; status: number } | { outcome: 'failed' | 'gone'; failure: string };

const TIMEOUT_MS = 15_000;
const GONE = 410;

/**
 * Returns the value of the header `webhook-signature` of Standard Webhooks: a signature of version 1 for each secret.
 */
function signEvent(
  secrets: readonly Uint8Array[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
  const signed = `${id}.${timestamp}.${body}`;
  return secrets.map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`).join(' ');
}

/**
 * Sends an event once. Redirects are not followed, and the response's body is not read. Never throws. Failures are
 * described without the URL, which may contain a secret.
 */
export async function sendEvent(
  { url, authorization, secrets }: WebhookReceiver,
  { id, body }: { id: string; body: string },
  { now, signal, timeoutMs = TIMEOUT_MS }: { now: Date; signal?: AbortSignal; timeoutMs?: number },
): Promise<Attempt> {
  const timestamp = Math.floor(now.getTime() / 1_000);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Groundswell',
        'webhook-id': id,
        'webhook-timestamp': `${timestamp}`,
        'webhook-signature': signEvent(secrets, { id, timestamp, body }),
        ...(authorization !== undefined && { authorization }),
      },
      body,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    // Closes the connection, because the body may be endless and only the status matters.
    await response.body?.cancel().catch(() => {});
    return attemptOf(response.status);
  } catch (error) {
    return { outcome: 'failed', failure: timeout.aborted ? `no response in ${timeoutMs / 1_000} s` : codeOf(error) };
  }
}

function attemptOf(status: number): Attempt {
  if (status >= 200 && status < 300) return { outcome: 'delivered', status };
  if (status === GONE) return { outcome: 'gone', failure: '410 Gone' };
  const isRedirect = status >= 300 && status < 400;
  return { outcome: 'failed', failure: `status ${status}${isRedirect ? ', and redirects are not followed' : ''}` };
}

/**
 * Returns the error code of the system or of TLS, such as ECONNREFUSED, or `no response` if there is none. Other error
 * messages are not used, because they may contain parts of the URL.
 */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error && cause.message === 'bad port') return 'Node.js refuses to connect to this port';
  return systemCode(cause) ?? 'no response';
}
