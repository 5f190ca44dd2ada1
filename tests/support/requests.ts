import { randomUUID } from 'node:crypto';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';

type Headers = Record<string, string>;

/** Sends requests to the server without a socket. */
export interface Requests {
  get(url: string, headers?: Headers): Promise<LightMyRequestResponse>;
  put(url: string, headers?: Headers): Promise<LightMyRequestResponse>;
  delete(url: string, headers?: Headers): Promise<LightMyRequestResponse>;
  /** Sends a POST request. Bodies other than strings and buffers are sent as JSON. */
  post(url: string, body?: unknown, headers?: Headers): Promise<LightMyRequestResponse>;
  /** Sends a GET request that must succeed. @returns the JSON of the response. */
  json<Body>(url: string, headers?: Headers): Promise<Body>;
}

export function requestsTo(app: FastifyInstance): Requests {
  const get: Requests['get'] = (url, headers = {}) => app.inject({ method: 'GET', url, headers });
  return {
    get,
    put: (url, headers = {}) => app.inject({ method: 'PUT', url, headers }),
    delete: (url, headers = {}) => app.inject({ method: 'DELETE', url, headers }),
    post(url, body, headers = {}) {
      if (body === undefined) return app.inject({ method: 'POST', url, headers });
      const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      return app.inject({ method: 'POST', url, headers: { 'content-type': 'application/json', ...headers }, payload });
    },
    async json<Body>(url: string, headers?: Headers) {
      const response = await get(url, headers);
      expect(response.statusCode, response.body).toBe(200);
      return response.json<Body>();
    },
  };
}

/** Returns `count` values, such as one for each of many simultaneous requests. */
export const times = <Value>(count: number, make: () => Value): Value[] => Array.from({ length: count }, make);

/** Returns the session header of a new visitor. */
export function newVisitor(): { 'x-user-session': string } {
  return { 'x-user-session': `session-${randomUUID()}` };
}
