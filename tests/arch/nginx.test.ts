import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { MAX_IMPORT_BYTES } from '../../src/contract/console/records.ts';
import * as api from '../../src/contract/paths/api.ts';
import { PICTURE_UPLOADS } from '../../src/contract/products/picture-uploads.ts';
import { submissionPaths } from '../../src/contract/submissions/paths.ts';
import { MAX_VOTES_BODY_BYTES } from '../../src/server/console/routes/votes.ts';
import { SERVER_LIMITS } from '../../src/server/http/server-limits.ts';
import { MAX_SUBMISSION_BODY_BYTES } from '../../src/server/routes/submissions.ts';
import { DEFAULT_STREAM_LIMITS } from '../../src/settings/rate-limits.ts';

const NGINX = readFileSync(join(import.meta.dirname, '../../deploy/nginx.conf'), 'utf8');
const CADDY = readFileSync(join(import.meta.dirname, '../../deploy/Caddyfile'), 'utf8');
const UNITS = { k: 1024, m: 1024 * 1024 };

/** Returns the block of the location that nginx selects for a path. */
function locationOf(path: string): string {
  const locations = [...NGINX.matchAll(/location (=|~|) ?(\S+) \{([^}]*)\}/g)];
  const selected =
    locations.find(([, kind, pattern]) => kind === '=' && pattern === path) ??
    locations.find(([, kind, pattern = '']) => kind === '~' && new RegExp(pattern).test(path)) ??
    locations.find(([, kind]) => kind === '');
  return selected?.[3] ?? '';
}

/** Returns the maximum body size of a path. A location without a limit inherits that of the server. */
function maxBodyBytes(path: string): number {
  const [, size = '', unit = 'k'] =
    /client_max_body_size (\d+)([km]);/.exec(locationOf(path)) ?? /client_max_body_size (\d+)([km]);/.exec(NGINX) ?? [];
  return Number(size) * UNITS[unit as keyof typeof UNITS];
}

test.each([
  [submissionPaths.submissions, MAX_SUBMISSION_BODY_BYTES],
  [submissionPaths.image('tide'), PICTURE_UPLOADS.maxBytes],
  [CONSOLE_API.pictures('image'), PICTURE_UPLOADS.maxBytes],
  [CONSOLE_API.votes('tide'), MAX_VOTES_BODY_BYTES],
  [CONSOLE_API.import, MAX_IMPORT_BYTES],
])('the nginx example lets %s receive the largest body that the site accepts', (path, bytes) => {
  expect(maxBodyBytes(path)).toBeGreaterThan(bytes);
});

test('the nginx and Caddy examples tell browsers to use only TLS, and no location of nginx drops this header', () => {
  const header = /Strict-Transport-Security "max-age=31536000"/g;
  expect(NGINX.match(header)).toHaveLength(1);
  // A location that adds a header does not inherit those of the server.
  expect(NGINX.match(/add_header/g)).toHaveLength(1);
  expect(CADDY.match(header)).toHaveLength(1);
});

test('the nginx and Caddy examples replace the request id of a client, because the site logs ids from a proxy', () => {
  expect(NGINX).toContain('proxy_set_header X-Request-Id $request_id;');
  // A location that sets a header does not inherit those of the server.
  expect(NGINX.split('location /')[1]).not.toContain('proxy_set_header');
  expect(CADDY).toContain('header_up X-Request-Id {http.request.uuid}');
});

test('the nginx and Caddy examples close idle connections before the site does', () => {
  const [, nginxSeconds = '60'] = /keepalive_timeout (\d+)s?;/.exec(NGINX.split('server {')[0] ?? '') ?? [];
  // Caddy's default is two minutes.
  const [, caddySeconds = '120'] = /^\t\ttransport http \{\n\t\t\tkeepalive (\d+)s\n\t\t\}$/m.exec(CADDY) ?? [];
  for (const seconds of [nginxSeconds, caddySeconds])
    expect(Number(seconds) * 1_000).toBeLessThan(SERVER_LIMITS.keepAliveTimeout);
});

test('the nginx example allows two connections for each of the streams of one process, and a file for each', () => {
  const [, files] = /worker_rlimit_nofile (\d+);/.exec(NGINX) ?? [];
  const [, connections] = /worker_connections (\d+);/.exec(NGINX) ?? [];
  expect(Number(connections)).toBeGreaterThan(2 * DEFAULT_STREAM_LIMITS.perProcess);
  expect(Number(files)).toBeGreaterThan(Number(connections));
});

test.each([api.events, CONSOLE_API.events])('the nginx example does not buffer %s', (path) => {
  expect(locationOf(path)).toContain('proxy_buffering off;');
});

test.each([
  CONSOLE_API.import,
  CONSOLE_API.backup,
  CONSOLE_API.doctor,
  CONSOLE_API.removeProducts,
  CONSOLE_API.restoreProducts,
  CONSOLE_API.votes('tide'),
  CONSOLE_API.undo('0f8fad5b-d9cb-469f-a165-70867728950e'),
])('the nginx example waits ten minutes for a response to %s', (path) => {
  expect(locationOf(path)).toContain('proxy_read_timeout 600s;');
});
