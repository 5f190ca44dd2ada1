import { paths } from '../../contract/paths.ts';
import { SESSION_HEADER } from '../../contract/session.ts';
import { KEPT_AT_HEADER } from '../lib/kept-at.ts';
import { findFile, findKept, forget, forgetOtherBuilds, type Kind, keep, keepFiles } from './kept.ts';
import { type Asked, worker } from './worker-scope.ts';

/** How long a page is waited for when there is a copy of it. */
const PATIENCE_MS = 4_000;

/** What is the same for everybody, and worth having without a network. */
const ANSWERS = /^\/api\/products(?:\/[a-z0-9-]{1,64}(?:\/comments)?)?$/;
const PAGES = /^\/(?:product\/[a-z0-9-]{1,64})?$/;

/** Of the sample catalogue, and those that an operator brought along. */
const PICTURES = /^\/(?:pictures|images)\//;

/** Parameters that make another page. */
const PAGE_PARAMETERS = ['q', 'tag', 'sort', 'cursor', 'page', 'comments'];

worker.addEventListener('install', (event) => {
  event.waitUntil(keepFiles([paths.offlineShell]).then(() => worker.skipWaiting()));
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(
    Promise.all([forgetOtherBuilds(), worker.registration.navigationPreload?.enable()]).then(() =>
      worker.clients.claim(),
    ),
  );
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  // Whatever is written, personal, or somebody else's goes its own way.
  if (request.method !== 'GET' || url.origin !== worker.location.origin || request.headers.has(SESSION_HEADER)) return;
  if (request.mode === 'navigate') {
    if (PAGES.test(url.pathname)) event.respondWith(answerPage(event, url));
  } else if (url.pathname.startsWith('/assets/')) event.respondWith(answerFile(request));
  else if (PICTURES.test(url.pathname)) event.respondWith(answerOrKept(event, 'pictures'));
  else if (ANSWERS.test(url.pathname)) event.respondWith(answerOrKept(event, 'answers'));
});

/** A page tells what it shows: it may have been there, or have been read, before this worker was. */
worker.addEventListener('message', (event) => {
  const { page, pictures } = event.data as { page: string; pictures: string[] };
  event.waitUntil(
    Promise.allSettled([keepPage(new URL(page)), ...pictures.map((picture) => keepIfNew('pictures', picture))]),
  );
});

/** The page from the network. A copy stands in where there is no network, or one that takes too long. */
async function answerPage(event: Asked, url: URL): Promise<Response> {
  const key = keyOf(url);
  const network = askForPage(event, key);
  const kept = await findKept('pages', key);
  try {
    return await (kept ? Promise.race([network, tooLate()]) : network);
  } catch (error) {
    // Answered late, it is still kept.
    network.catch(() => {});
    const copy = kept ?? (await findFile(paths.offlineShell));
    if (!copy) throw error;
    return markAsKept(copy);
  }
}

async function askForPage(event: Asked, key: string): Promise<Response> {
  const response = (await event.preloadResponse) ?? (await fetch(event.request));
  keepOrForget(event, 'pages', key, response);
  return response;
}

function tooLate(): Promise<never> {
  return new Promise((_resolve, reject) => setTimeout(() => reject(new Error('The network is slow')), PATIENCE_MS));
}

/** The page itself says that it is a copy, so that it can tell whoever reads it. */
async function markAsKept(copy: Response): Promise<Response> {
  const at = copy.headers.get(KEPT_AT_HEADER) ?? '';
  const html = await copy.text();
  return new Response(html.replace('<html', `<html data-kept-at="${at}"`), { headers: copy.headers });
}

/** A file never changes under its name. */
async function answerFile(request: Request): Promise<Response> {
  return (await findFile(request.url)) ?? fetch(request);
}

/** What the network says; a copy only where the browser knows that there is no network. */
async function answerOrKept(event: Asked, kind: Kind): Promise<Response> {
  const { request } = event;
  try {
    const response = await fetch(request);
    keepOrForget(event, kind, request.url, response);
    return response;
  } catch (error) {
    const kept = worker.navigator.onLine ? undefined : await findKept(kind, request.url);
    if (kept) return kept;
    throw error;
  }
}

/** A copy follows what the site says: what was removed is not read offline for another two weeks. */
function keepOrForget(event: Asked, kind: Kind, address: string, response: Response): void {
  if (response.status === 200) event.waitUntil(keep(kind, address, response.clone()));
  else if (response.status === 404 || response.status === 410) event.waitUntil(forget(kind, address));
}

/** Keeps a page unless it is kept already, as a document or as the answer that it is made of. A search is not worth asking for. */
async function keepPage(url: URL): Promise<void> {
  if (!PAGES.test(url.pathname) || url.searchParams.has('q')) return;
  if (url.pathname !== paths.home && (await findKept('answers', `${url.origin}/api${plural(url.pathname)}`))) return;
  await keepIfNew('pages', keyOf(url));
}

/** `/product/a` → `/products/a`, as the API calls it. */
function plural(pathname: string): string {
  return pathname.replace('/product/', '/products/');
}

async function keepIfNew(kind: Kind, address: string): Promise<void> {
  if (await findKept(kind, address)) return;
  const response = await fetch(address);
  if (response.status === 200) await keep(kind, address, response);
}

/** The address of a page without what changes nothing on it. */
function keyOf({ origin, pathname, searchParams }: URL): string {
  const kept = new URLSearchParams();
  for (const name of PAGE_PARAMETERS) {
    const value = searchParams.get(name);
    if (value) kept.set(name, value);
  }
  return `${origin}${pathname}${kept.size > 0 ? `?${kept}` : ''}`;
}
