import { KEPT_AT_HEADER } from '../lib/kept-at.ts';
import { build } from './worker-scope.ts';

/** What is kept, each with how many of it. The build's files are as many as they are. */
const MOST = { pages: 40, answers: 80, pictures: 150 } as const;

const MAX_AGE_MS = 14 * 24 * 60 * 60 * 1000;
const PREFIX = 'kept ';

export type Kind = keyof typeof MOST;

/** Of another build nothing is kept: its pages ask for files that are no more. */
const cacheName = (kind: Kind | 'files') => `${PREFIX}${build.id} ${kind}`;

/** Keeps a copy of an answer, in place of an older one and, when there are too many, of the one kept first. */
export async function keep(kind: Kind, address: string, response: Response): Promise<void> {
  const headers = new Headers(response.headers);
  headers.set(KEPT_AT_HEADER, new Date().toISOString());
  // The body is no longer encoded.
  headers.delete('content-encoding');
  headers.delete('content-length');
  const cache = await caches.open(cacheName(kind));
  await cache.delete(address);
  await cache.put(address, new Response(response.body, { status: response.status, headers }));
  const addresses = await cache.keys();
  for (const oldest of addresses.slice(0, -MOST[kind])) await cache.delete(oldest);
}

/** Drops the copy of what is no more. */
export async function forget(kind: Kind, address: string): Promise<void> {
  const cache = await caches.open(cacheName(kind));
  await cache.delete(address);
}

/** The copy of an answer; `undefined` where there is none, or only one that is too old to be worth showing. */
export async function findKept(kind: Kind, address: string): Promise<Response | undefined> {
  const cache = await caches.open(cacheName(kind));
  const found = await cache.match(address);
  if (!found) return undefined;
  const keptAt = Date.parse(found.headers.get(KEPT_AT_HEADER) ?? '');
  if (Date.now() - keptAt <= MAX_AGE_MS) return found;
  await cache.delete(address);
  return undefined;
}

/** Keeps the files of this build, all or nothing, and what else must be there from the start. */
export async function keepFiles(more: readonly string[]): Promise<void> {
  const cache = await caches.open(cacheName('files'));
  await cache.addAll([...build.files, ...more]);
}

export async function findFile(address: string): Promise<Response | undefined> {
  const cache = await caches.open(cacheName('files'));
  return cache.match(address);
}

export async function forgetOtherBuilds(): Promise<void> {
  const current = `${PREFIX}${build.id} `;
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && !name.startsWith(current));
  await Promise.all(old.map((name) => caches.delete(name)));
}
