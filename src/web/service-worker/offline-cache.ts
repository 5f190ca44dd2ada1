import * as paths from '../../contract/paths.ts';
import { CACHED_AT_HEADER } from './cached-at.ts';
import { build } from './worker-scope.ts';

/** The maximum number of cached responses of each kind. The files of the build have no maximum. */
const MAX_ITEMS = { pages: 40, responses: 80, pictures: 150 } as const;

const MAX_AGE_MS = 14 * 24 * 60 * 60 * 1000;
const PREFIX = 'cached ';

export type Kind = keyof typeof MAX_ITEMS;

/**
 * Returns the name of a cache. The name contains the build id, because pages of another build request files that no
 * longer exist.
 */
const cacheName = (kind: Kind | 'files') => `${PREFIX}${build.id} ${kind}`;

/** Text that every document of the site contains, including the 404 page. */
export const DOCUMENT_MARK = 'class="site-links"';

/**
 * Returns whether a response with status 200 comes from the site. An intermediary, such as the gateway of a public
 * network, may respond to any request with its own document.
 */
async function isFromSite(kind: Kind | 'files', response: Response): Promise<boolean> {
  if (kind === 'pages') return (await response.clone().text()).includes(DOCUMENT_MARK);
  const type = response.headers.get('content-type') ?? '';
  return kind === 'responses' ? type.startsWith('application/json') : !type.startsWith('text/html');
}

/**
 * Caches a response in place of an older copy, and evicts the oldest copies beyond the maximum. If the storage is full,
 * evicts the oldest other copy and tries once more. Ignores a response that is not from the site.
 */
export async function cacheResponse(kind: Kind, address: string, response: Response): Promise<void> {
  if (!(await isFromSite(kind, response))) return;
  const cachedAt = new Date().toISOString();
  const request = new Request(address, { headers: { [CACHED_AT_HEADER]: cachedAt } });
  const headers = new Headers(response.headers);
  headers.set(CACHED_AT_HEADER, cachedAt);
  // The stored body is already decoded, so these headers no longer apply.
  headers.delete('content-encoding');
  headers.delete('content-length');
  // The body is read completely before the older copy is replaced, because the download may be interrupted.
  const body = await response.arrayBuffer();
  const cache = await caches.open(cacheName(kind));
  // `put` replaces the older copy. Deleting that copy first would lose it if the storage is full.
  const put = () => cache.put(request, new Response(body, { status: response.status, headers }));
  await put().catch(async (error) => {
    if (error.name !== 'QuotaExceededError') throw error;
    const others = (await cache.keys()).filter(({ url }) => url !== address);
    // Only one per attempt, because the copies would not be replaced if other sites or programs fill the storage.
    await evictOldest(cache, others, others.length - 1);
    await put();
  });
  await evictOldest(cache, await cache.keys(), MAX_ITEMS[kind]);
}

/**
 * Evicts the oldest of these copies. Compares the headers of the cached requests: the order of keys differs between
 * browsers, and Chromium does not free the storage of a deleted copy at once if its response was opened.
 */
async function evictOldest(cache: Cache, requests: readonly Request[], maxItems: number): Promise<void> {
  const cachedAt = ({ headers }: Request) => headers.get(CACHED_AT_HEADER) ?? '';
  const newestFirst = [...requests].sort((one, other) => cachedAt(other).localeCompare(cachedAt(one)));
  for (const request of newestFirst.slice(maxItems)) await cache.delete(request);
}

/** Deletes the copy of a resource, for example because the copy is too old or the site has removed the resource. */
export async function deleteCopy(kind: Kind, address: string): Promise<void> {
  const cache = await caches.open(cacheName(kind));
  await cache.delete(address);
}

/** Returns a cached response, or `undefined` if there is none or the browser's storage fails. */
async function find(kind: Kind | 'files', address: string): Promise<Response | undefined> {
  try {
    const cache = await caches.open(cacheName(kind));
    return await cache.match(address);
  } catch {
    return undefined;
  }
}

/** Returns the cached copy of a response, or `undefined` if there is none or it is past its maximum age. */
export async function findCopy(kind: Kind, address: string): Promise<Response | undefined> {
  const found = await find(kind, address);
  if (!found) return undefined;
  const cachedAt = Date.parse(found.headers.get(CACHED_AT_HEADER) ?? '');
  if (Date.now() - cachedAt <= MAX_AGE_MS) return found;
  await deleteCopy(kind, address).catch(() => {});
  return undefined;
}

/**
 * Caches the files of this build and the offline shell that belongs to them.
 * @throws if a file or the shell cannot be loaded, for example because a process of another build responds during a
 * rolling restart.
 */
export async function cacheFiles(): Promise<void> {
  const shell = await fetch(`${paths.offlineShell}?digest=${encodeURIComponent(build.shellDigest)}`);
  if (!shell.ok || !(await isFromSite('pages', shell)))
    throw new Error(`Cannot load the offline shell of this build: ${shell.status}`);
  await Promise.all(build.files.map(async (file) => cacheFile(file, await fetch(file))));
  const cache = await caches.open(cacheName('files'));
  await cache.put(paths.offlineShell, shell);
}

/** Caches a file. A cached file is never requested again. @throws if the response is an error or not from the site. */
export async function cacheFile(address: string, response: Response): Promise<void> {
  if (!response.ok || !(await isFromSite('files', response)))
    throw new Error(`Cannot load ${address}: ${response.status}`);
  const cache = await caches.open(cacheName('files'));
  await cache.put(address, response);
}

export function findFile(address: string): Promise<Response | undefined> {
  return find('files', address);
}

export async function deleteOtherBuilds(): Promise<void> {
  const current = `${PREFIX}${build.id} `;
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && !name.startsWith(current));
  await Promise.all(old.map((name) => caches.delete(name)));
}
