import { randomUUID } from 'node:crypto';

type Row = [what: string, headers: Record<string, string>];

const row = (what: string, session: string): Row => [what, { 'x-user-session': session }];

/**
 * Valid session ids: all kinds in section 3 of the specification and in the API contract, including the shortest and
 * the longest.
 */
export const GOOD_SESSIONS: Row[] = [
  row('a random one', `session-${randomUUID()}`),
  row('based on the time', `session-${Date.now()}`),
  row('a fallback', `fallback-session-${Date.now()}`),
  row('the server’s', `server-session-${Date.now()}`),
  row('the shortest', 'session-x'),
  row('the longest', `session-${'x'.repeat(92)}`),
  row('in upper case after its prefix', 'session-ABC-123'),
];

/** Invalid session ids. Each gets 400 `session_required`. */
export const BAD_SESSIONS: Row[] = [
  ['missing', {}],
  row('empty', ''),
  row('without its prefix', randomUUID()),
  row('only a prefix', 'session-'),
  row('one with another prefix', 'sample-session-1'),
  row('that of a sample upvote', 'sample:git:0'),
  row('101 characters long', `session-${'x'.repeat(93)}`),
  row('10,000 characters long', `session-${'x'.repeat(9_992)}`),
  row('one with a space', 'session-a b'),
  row('one with SQL', "session-'; DROP TABLE upvotes; --"),
  row('two ids in one header', 'session-a, session-b'),
  row('not ASCII', 'session-é'),
  row('one with an upper-case prefix', 'SESSION-abc'),
];
