import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEVICE_DAYS } from '../../core/console/sessions.ts';

/**
 * The cookies of the console: the token of the session, and the token of a browser in which an operator signed in
 * before.
 */
export interface ConsoleCookies {
  sessionOf(request: FastifyRequest): string | undefined;
  deviceOf(request: FastifyRequest): string | undefined;
  setSession(reply: FastifyReply, token: string): void;
  setDevice(reply: FastifyReply, token: string): void;
  clearSession(reply: FastifyReply): void;
}

/**
 * On HTTPS, the names begin with `__Host-`, so no other host of the domain and no unencrypted connection can set the
 * cookies. `SameSite=Strict` keeps them out of every request that another site causes.
 */
export function consoleCookies(siteUrl: () => string): ConsoleCookies {
  const isSecure = () => siteUrl().startsWith('https:');
  const nameOf = (name: string) => (isSecure() ? `__Host-${name}` : name);
  const set = (reply: FastifyReply, name: string, value: string, attributes = '') =>
    reply.header(
      'Set-Cookie',
      `${nameOf(name)}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure() ? '; Secure' : ''}${attributes}`,
    );
  return {
    sessionOf: (request) => cookieOf(request, nameOf('console_session')),
    deviceOf: (request) => cookieOf(request, nameOf('console_device')),
    // Without Max-Age, the cookie is deleted when the browser closes; the server also ends idle sessions.
    setSession: (reply, token) => set(reply, 'console_session', token),
    setDevice: (reply, token) => set(reply, 'console_device', token, `; Max-Age=${DEVICE_DAYS * 24 * 3_600}`),
    clearSession: (reply) => set(reply, 'console_session', '', '; Max-Age=0'),
  };
}

function cookieOf({ headers: { cookie = '' } }: FastifyRequest, name: string): string | undefined {
  for (const pair of cookie.split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}
