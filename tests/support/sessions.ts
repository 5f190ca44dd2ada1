import { randomUUID } from 'node:crypto';

type Row = [what: string, headers: Record<string, string>];

const row = (what: string, session: string): Row => [what, { 'x-user-session': session }];

/**
 * Valid session ids: all kinds in section 3 of the specification and in the API contract, including the shortest and
 * the longest.
 */
export const GOOD_SESSIONS: Row[] = [
  row('random', `session-${randomUUID()}`),
  row('based on the time', `session-${Date.now()}`),
  row('a fallback', `fallback-session-${Date.now()}`),
  row('the server’s fallback', `server-session-${Date.now()}`),
  row('as short as possible', 'session-x'),
  row('as long as possible', `session-${'x'.repeat(92)}`),
  row('in upper case after its prefix', 'session-ABC-123'),
];

/** Invalid session ids. Each gets 400 `session_required`. */
export const BAD_SESSIONS: Row[] = [
  ['missing', {}],
  row('empty', ''),
  row('without a prefix', randomUUID()),
  row('only a prefix', 'session-'),
  row('prefixed with sample-', 'sample-session-1'),
  row('a sample upvote’s', 'sample:git:0'),
  row('101 characters long', `session-${'x'.repeat(93)}`),
  row('10,000 characters long', `session-${'x'.repeat(9_992)}`),
  row('split by a space', 'session-a b'),
  row('an SQL injection', "session-'; DROP TABLE upvotes; --"),
  row('two ids in one header', 'session-a, session-b'),
  row('not ASCII', 'session-é'),
  row('prefixed in upper case', 'SESSION-abc'),
];
