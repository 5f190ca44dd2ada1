import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import type { ProblemCode } from '../../src/contract/problem.ts';

/** Matches texts that reveal internals of the server. */
const INTERNALS = /node_modules|\\n\s+at |\.ts:|\.js:|SELECT |INSERT |UPDATE |postgres|pg_|relation|ECONN/;

/** Expects an RFC 9457 response with this status and code, which must not be cacheable or reveal internals. */
export function expectProblem(
  response: LightMyRequestResponse,
  status: number,
  code: ProblemCode,
  detail?: string | RegExp,
): void {
  expect(response.statusCode, response.body).toBe(status);
  expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect(response.headers['cache-control']).toBe('no-store');
  expect(response.headers['x-content-type-options']).toBe('nosniff');
  expect(response.headers['x-request-id']).toMatch(/^[0-9a-f]{8}-[0-9a-z]+$/);
  expect(response.body).not.toMatch(INTERNALS);
  const sentence = detail === undefined ? expect.stringMatching(/^[A-Z].+/) : detail;
  expect(response.json()).toEqual({
    type: 'about:blank',
    title: expect.stringMatching(/^[A-Z].+/),
    status,
    detail: sentence instanceof RegExp ? expect.stringMatching(sentence) : sentence,
    code,
  });
}
