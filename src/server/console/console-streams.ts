import type { ServerResponse } from 'node:http';
import type { FastifyPluginAsync } from 'fastify';
import { CONSOLE_API } from '../../contract/console/paths.ts';
import type { LiveSubject } from '../../contract/console/records.ts';
import { LIVE_HEARTBEAT_S } from '../../contract/live/events.ts';
import { AUDIT_LOG, type Change, OPERATOR_QUEUE } from '../../core/changes/change-feed.ts';
import type { ChangeListener } from '../../core/changes/site-changes.ts';
import { hijack, occupyConnection } from '../http/connections.ts';
import { MAX_UNREAD_BYTES } from '../live/event-stream.ts';
import type { ConsoleCookies } from './cookies.ts';

/** A stream ends after this time. The console then opens another one, which requires a valid session. */
const MAX_STREAM_MS = 5 * 60_000;

/**
 * The open streams of operators. Each reports which kinds of data have changed, and the console refetches the displayed
 * data of these kinds.
 */
export interface ConsoleStreams extends ChangeListener {
  /** Adds a stream. `token` identifies the session that opened it. */
  add(response: ServerResponse, token: string): void;
  /**
   * Calls `end` if the session ends before the work does, so a download or an import does not outlive its session.
   * @returns a function to call when the work is complete.
   */
  endWithSession(token: string, end: () => void): () => void;
  /** Ends the streams and the other work whose session has ended. Never rejects. */
  endSignedOut(): Promise<void>;
  close(): void;
}

/** Creates the set of open streams. `findOpenSessions` returns the given tokens whose sessions are open. */
export function createConsoleStreams(findOpenSessions: (tokens: string[]) => Promise<Set<string>>): ConsoleStreams {
  const open = new Set<ServerResponse>();
  /** For each stream and other work, the function that ends it and the token of its session. */
  const tokens = new Map<() => void, string>();
  function send(frame: string): void {
    for (const response of open) {
      if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
      else response.write(frame);
    }
  }
  // Removes the stream now, because a write after the end is an error. If the client does not read, `close` may be
  // emitted much later.
  function end(response: ServerResponse): void {
    open.delete(response);
    response.end();
  }
  function endWithSession(token: string, endWork: () => void): () => void {
    tokens.set(endWork, token);
    return () => void tokens.delete(endWork);
  }
  async function endSignedOut(): Promise<void> {
    // Work that begins during the check is not ended, because its session is not checked.
    const checked = [...tokens];
    if (checked.length === 0) return;
    try {
      const present = await findOpenSessions([...new Set(tokens.values())]);
      for (const [endWork, token] of checked) if (!present.has(token)) endWork();
    } catch {
      // If the database is unavailable, the next heartbeat checks again.
    }
  }
  const heartbeat = setInterval(() => {
    send(':\n\n');
    void endSignedOut();
  }, LIVE_HEARTBEAT_S * 1_000).unref();

  return {
    endSignedOut,
    endWithSession,
    add(response, token) {
      // If the client has already disconnected, `close` is not emitted again, so the stream would never be removed.
      if (response.destroyed) return;
      open.add(response);
      const remove = endWithSession(token, () => end(response));
      const timer = setTimeout(() => end(response), MAX_STREAM_MS).unref();
      response.once('close', () => {
        clearTimeout(timer);
        open.delete(response);
        remove();
      });
      response.write('retry: 2000\n\nevent: ready\ndata: {}\n\n');
    },
    onChange(change: Change) {
      const subjects = subjectsOf(change);
      // Any process may have revoked an operator's access. The audit log records every revocation.
      if (subjects.includes('audit')) void endSignedOut();
      if (open.size > 0 && subjects.length > 0) send(`event: change\ndata: ${JSON.stringify(subjects)}\n\n`);
    },
    onGap: () => send('event: gap\ndata: {}\n\n'),
    close() {
      clearInterval(heartbeat);
      for (const response of open) end(response);
    },
  };
}

function subjectsOf({ productIds, catalogue, commentIds = [] }: Change): LiveSubject[] {
  return [
    ...(productIds.includes(AUDIT_LOG) ? (['audit'] as const) : []),
    ...(productIds.includes(OPERATOR_QUEUE) ? (['queue'] as const) : []),
    ...(catalogue ? (['products'] as const) : []),
    ...(commentIds.length > 0 ? (['comments'] as const) : []),
    // Upvotes are frequent, so the console refetches counts less often than other data.
    ...(!catalogue && productIds.some((id) => !id.startsWith('#')) ? (['counts'] as const) : []),
  ];
}

/** The stream that tells an operator's browser which kinds of data have changed. */
export const eventRoutes: FastifyPluginAsync<{ streams: ConsoleStreams; cookies: ConsoleCookies }> = async (
  app,
  { streams, cookies },
) => {
  app.addHook('preClose', (done) => {
    streams.close();
    done();
  });
  // A HEAD request would open a stream, and never get a response.
  app.get(CONSOLE_API.events, { exposeHeadRoute: false }, (request, reply) => {
    occupyConnection(reply);
    hijack(reply, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
    streams.add(reply.raw, cookies.sessionOf(request) ?? '');
  });
};
