import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';

/**
 * A visitor who has just written gets a cookie that says when, for a few seconds: pages may lag behind others' writes for
 * a moment, but not behind one's own. It names nobody, and any value is harmless: at worst, a page is made once more.
 */
const NAME = 'wrote_at';
const MAX_AGE_S = 10;

const PATTERN = new RegExp(`(?:^|;\\s*)${NAME}=(\\d{1,15})(?:;|$)`);

/** Remembers with the visitor that something of theirs was committed. */
export function rememberWrite(reply: FastifyReply): void {
  reply.header('Set-Cookie', `${NAME}=${Date.now()}; Path=/; Max-Age=${MAX_AGE_S}; HttpOnly; SameSite=Lax`);
}

/** The moment (milliseconds since 1970) from which on a page must have been made to show this visitor's own writes. */
export function wroteAt({ headers: { cookie } }: Pick<IncomingMessage, 'headers'>): number | undefined {
  const value = cookie === undefined ? undefined : PATTERN.exec(cookie)?.[1];
  if (value === undefined) return undefined;
  // A time to come would ask for a new page for ever.
  return Math.min(Number(value) + 1, Date.now());
}

/** Tells of every request of somebody who has just written, here or at another process, when that was. Before it is answered. */
export function noteWriters(app: FastifyInstance, note: (moment: number) => void): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const moment = wroteAt(request);
    if (moment !== undefined) note(moment);
    done();
  });
}
