import type { FastifyRequest } from 'fastify';
import { SESSION_HEADER, SESSION_PATTERN } from '../../contract/session.ts';
import { CoreError } from '../../core/core-error.ts';

const SESSION = new RegExp(SESSION_PATTERN);
const HEADER_NAME = SESSION_HEADER.toLowerCase();

/** The session id of the visitor who asks. @throws CoreError `session_required` where it is missing or malformed. */
export function sessionOf(request: FastifyRequest): string {
  const session = knownSessionOf(request);
  if (session === undefined) {
    throw new CoreError('session_required', `The header ${SESSION_HEADER} must name the visitor's session`);
  }
  return session;
}

/** The session id where there is a good one. */
export function knownSessionOf(request: FastifyRequest): string | undefined {
  const session = request.headers[HEADER_NAME];
  return typeof session === 'string' && SESSION.test(session) ? session : undefined;
}
