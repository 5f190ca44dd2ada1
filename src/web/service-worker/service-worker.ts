import { SESSION_HEADER } from '../../contract/api.ts';
import { FOLDERS } from '../../contract/paths/folders.ts';
import * as paths from '../../contract/paths.ts';
import { isModerationLog, matchRoute, ROUTES, withLanguage } from '../../contract/routes.ts';
import { CACHED_AT_HEADER } from './cached-at.ts';
import {
  cacheFile,
  cacheFiles,
  cacheResponse,
  DOCUMENT_MARK,
  deleteCopy,
  deleteOtherBuilds,
  findCopy,
  findFile,
  type Kind,
} from './offline-cache.ts';
import { type FetchEventLike, worker } from './worker-scope.ts';

/** The maximum wait for the network if the cache has a copy of the page. */
const NETWORK_TIMEOUT_MS = 4_000;

/**
 * When the visitor opens a page within the app, the cached copy of that page is updated if the copy is at least this
 * old.
 */
const RECENT_MS = 60_000;

/** API responses that are the same for every visitor and useful offline. */
const API_RESPONSES = new RegExp(`^${paths.api.products}(?:/[a-z0-9-]{1,64}(?:/comments)?)?$`);

/** Returns whether a URL is a page of the app. The moderation log is a document without the app, and is not cached. */
const isPage = ({ pathname, searchParams }: URL) =>
  matchRoute(pathname).name !== 'notFound' && !isModerationLog(pathname, searchParams);

const LANGUAGE = new RegExp(`${FOLDERS.assets}language-[^/]+$`);

/** The folders with bundled pictures, uploaded or imported pictures, and the operator's logo. */
const PICTURES = [FOLDERS.pictures, FOLDERS.images, FOLDERS.brand];

worker.addEventListener('install', (event) => {
  event.waitUntil(cacheFiles().then(() => worker.skipWaiting()));
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(
    Promise.all([deleteOtherBuilds(), worker.registration.navigationPreload?.enable()]).then(() =>
      worker.clients.claim(),
    ),
  );
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  // Writes, requests with a session and requests to other origins bypass this worker.
  if (request.method !== 'GET' || url.origin !== worker.location.origin || request.headers.has(SESSION_HEADER)) return;
  if (request.mode === 'navigate') {
    // If the worker did not respond, the browser would request the document again, after navigation preload.
    event.respondWith(isPage(url) ? respondWithPage(event, url) : requestDocument(event));
  } else if (url.pathname.startsWith(FOLDERS.assets)) event.respondWith(respondWithFile(event));
  else if (PICTURES.some((folder) => url.pathname.startsWith(folder)))
    event.respondWith(respondFromNetwork(event, 'pictures'));
  // Search results are not cached. There is one for each pause in typing, so they would evict the products that the
  // visitor opened.
  else if (API_RESPONSES.test(url.pathname) && !url.searchParams.has('q'))
    event.respondWith(respondFromNetwork(event, 'responses'));
});

/** A page reports its URL, pictures and language, because it may have loaded before this worker was active. */
worker.addEventListener('message', (event) => {
  const { page, pictures, language } = event.data as { page: string; pictures: string[]; language?: string };
  event.waitUntil(
    Promise.allSettled([
      cachePage(new URL(page)),
      language && cacheLanguage(language),
      ...pictures.map((picture) => cacheIfMissing('pictures', picture)),
    ]),
  );
});

/**
 * Returns the page from the network. If the network is slow or unavailable, returns the cached copy. Without a copy,
 * waits for the network and, if the request fails, returns a cached translation or else the offline shell.
 */
async function respondWithPage(event: FetchEventLike, url: URL): Promise<Response> {
  const key = keyOf(url);
  const network = fetchPage(event, key);
  // A response that arrives too late still updates the copy. A late error is ignored.
  event.waitUntil(network.catch(() => {}));
  const cached = await findCopy('pages', key);
  try {
    return await (cached ? Promise.race([network, networkTimeout()]) : network);
  } catch (error) {
    const copy = cached ?? (await findTranslation(key)) ?? (await findFile(paths.offlineShell));
    if (!copy) throw error;
    return markAsCached(copy);
  }
}

/**
 * Returns the copy of a page in one of the visitor's languages. With `SITE_LOCALE=auto`, the site may redirect a URL
 * without a language to a translation. In that case, only the translation is cached.
 */
async function findTranslation(key: string): Promise<Response | undefined> {
  for (const tag of worker.navigator.languages) {
    const copy = await findCopy('pages', withLanguage(key, tag.replace(/-.*/, '')));
    if (copy) return copy;
  }
  return undefined;
}

async function fetchPage(event: FetchEventLike, key: string): Promise<Response> {
  const response = await requestDocument(event);
  event.waitUntil(updateCopy('pages', key, response));
  return response;
}

async function requestDocument({ preloadResponse, request }: FetchEventLike): Promise<Response> {
  const response = (await preloadResponse) ?? (await fetch(request));
  // If the preload fails, Firefox returns an error response, with which it would show its own error page.
  if (response.type === 'error') throw new Error('The network is unavailable');
  return response;
}

function networkTimeout(): Promise<never> {
  return new Promise((_resolve, reject) =>
    setTimeout(() => reject(new Error('The network is slow')), NETWORK_TIMEOUT_MS),
  );
}

/** Marks the document as a cached copy, so the page can tell the visitor. */
async function markAsCached(copy: Response): Promise<Response> {
  const at = copy.headers.get(CACHED_AT_HEADER) ?? '';
  const html = await copy.text();
  return new Response(html.replace('<html', `<html data-cached-at="${at}"`), { headers: copy.headers });
}

/**
 * Returns a file from the cache or the network. A file with a hashed name never changes, so a cached file is always
 * current. A language's messages are cached when a page first needs them.
 */
async function respondWithFile(event: FetchEventLike): Promise<Response> {
  const { request } = event;
  const found = await findFile(request.url);
  if (found) return found;
  const response = await fetch(request);
  if (response.status === 200 && LANGUAGE.test(request.url)) event.waitUntil(cacheFile(request.url, response.clone()));
  return response;
}

/** Returns the response from the network or, if the request fails while the browser is offline, the cached copy. */
async function respondFromNetwork(event: FetchEventLike, kind: Kind): Promise<Response> {
  const { request } = event;
  try {
    const response = await fetch(request);
    event.waitUntil(updateCopy(kind, request.url, response));
    return response;
  } catch (error) {
    const copy = worker.navigator.onLine ? undefined : await findCopy(kind, request.url);
    if (copy) return copy;
    throw error;
  }
}

/** Caches the messages of the page's language, which may have loaded before this worker was active. */
async function cacheLanguage(address: string): Promise<void> {
  if (!LANGUAGE.test(address) || (await findFile(address))) return;
  await cacheFile(address, await fetch(address));
}

/**
 * Updates the copy, or deletes it if the site has removed the resource. Does not cache a page with `no-store`, because
 * it lacks a part, e.g. the comments. Clones the response synchronously, so the caller can return it to the page.
 */
async function updateCopy(kind: Kind, address: string, response: Response): Promise<void> {
  if (response.status === 200) {
    if (response.headers.get('cache-control')?.includes('no-store')) return;
    await cacheResponse(kind, address, response.clone());
  } else if (response.status === 404 || response.status === 410) {
    await deleteIfRemoved(kind, address, response.clone());
  }
}

/**
 * Deletes the copy, unless a proxy sent the response: the API's errors contain a code, and the site's 404 page contains
 * `DOCUMENT_MARK`.
 */
async function deleteIfRemoved(kind: Kind, address: string, response: Response): Promise<void> {
  const body = await response.text();
  if (body.includes(kind === 'responses' ? '"code":' : DOCUMENT_MARK)) await deleteCopy(kind, address);
}

/**
 * Caches a page, unless its document was cached recently. Skips searches. Also skips a product without a cached
 * document if its API response is cached, because the offline shell can render the page from that response.
 */
async function cachePage(url: URL): Promise<void> {
  if (!isPage(url) || url.searchParams.has('q')) return;
  const page = matchRoute(url.pathname);
  const copy = await findCopy('pages', keyOf(url));
  if (
    copy
      ? isRecent(copy)
      : page.name === 'product' && (await findCopy('responses', url.origin + paths.api.product(page.id)))
  )
    return;
  await fetchCopy('pages', keyOf(url));
}

/**
 * Returns whether a copy is recent. Navigation within the app requests no document, so an older copy must be updated
 * afterwards to match what the visitor saw.
 */
const isRecent = ({ headers }: Response) => Date.now() - Date.parse(headers.get(CACHED_AT_HEADER) ?? '') < RECENT_MS;

async function cacheIfMissing(kind: Kind, address: string): Promise<void> {
  if (!(await findCopy(kind, address))) await fetchCopy(kind, address);
}

async function fetchCopy(kind: Kind, address: string): Promise<void> {
  await updateCopy(kind, address, await fetch(address));
}

/** Returns the URL of a page without the parameters that the page ignores. */
function keyOf({ origin, pathname, searchParams }: URL): string {
  const parameters = new URLSearchParams();
  for (const name of ROUTES[matchRoute(pathname, searchParams).name].parameters) {
    const value = searchParams.get(name);
    if (value) parameters.set(name, value);
  }
  // Chrome 112 and Safari 16 lack `parameters.size`.
  return `${origin}${pathname}?${parameters}`.replace(/\?$/, '');
}
