import { scryptSync } from 'node:crypto';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import type { AuditRecord, ConsolePage } from '../../src/contract/console/records.ts';
import { inviteOperator } from '../../src/core/console/operators.ts';
import { beginSession } from '../../src/core/console/sessions.ts';
import { signIn } from '../../src/core/console/sign-in.ts';
import type { Database } from '../../src/core/database/database.ts';

export const PASSPHRASE = 'correct horse battery';

/** The stored hash of the passphrase, with about a hundredth of the usual cost. */
const STORED = `scrypt$10$8$1$c2FsdA$${scryptSync(PASSPHRASE, 'salt', 32, { N: 2 ** 10, r: 8, p: 1 }).toString('base64url')}`;

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A browser in which an operator is signed in to the console. */
export interface TestOperator {
  name: string;
  cookie: string;
  ask(method: Method, url: string, body?: unknown, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  /** Sends a request that must succeed. @returns the JSON of the response. */
  json<Body>(method: Method, url: string, body?: unknown): Promise<Body>;
  /** Reads the newest entry of the audit log. */
  lastEntry(): Promise<AuditRecord>;
  /** Requests to undo an entry of the audit log. */
  undo(entry: AuditRecord): Promise<LightMyRequestResponse>;
}

interface Site {
  app: FastifyInstance;
  database: Database;
}

/** Adds an operator with a session but without a passphrase, because hashing one takes a quarter of a second. */
export async function addOperator(site: Site, name = 'ada', now = new Date()): Promise<TestOperator> {
  await inviteOperator(site.database, name, now);
  return operatorWith(site, name, `console_session=${await beginSession(site.database, name, now)}`);
}

/** Adds an operator with `PASSPHRASE`, and signs in as of `now`. */
export async function signInOperator(
  site: Site,
  { name = 'ada', now = new Date() }: { name?: string; now?: Date } = {},
): Promise<TestOperator> {
  await addPassphrase(site.database, name, now);
  const given = { name, passphrase: PASSPHRASE, knownDevice: undefined, before: undefined, now };
  const { sessionToken, deviceToken } = await signIn(site.database, given);
  return operatorWith(site, name, `console_session=${sessionToken}; console_device=${deviceToken}`);
}

/** Adds an operator with `PASSPHRASE`, whose stored hash is quick to check. */
export async function addPassphrase(database: Database, name: string, now: Date): Promise<void> {
  await inviteOperator(database, name, now);
  await database.query('UPDATE operators SET passphrase = $2 WHERE name = $1', [name, STORED]);
}

function operatorWith({ app }: Site, name: string, cookie: string): TestOperator {
  const ask: TestOperator['ask'] = (method, url, body, headers = {}) =>
    app.inject({
      method,
      url: `/api/console${url}`,
      headers: {
        cookie,
        'sec-fetch-site': 'same-origin',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    });
  const json: TestOperator['json'] = async (method, url, body) => {
    const response = await ask(method, url, body);
    if (response.statusCode >= 300) throw new Error(`${method} ${url}: ${response.statusCode} ${response.body}`);
    return response.json();
  };
  return {
    name,
    cookie,
    ask,
    json,
    async lastEntry() {
      const [entry] = (await json<ConsolePage<AuditRecord>>('GET', '/audit?limit=1')).items;
      if (!entry) throw new Error('The audit log is empty.');
      return entry;
    },
    undo: (entry) => ask('POST', `/audit/${entry.id}/undo`),
  };
}
