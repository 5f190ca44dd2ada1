import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import * as paths from '../../src/contract/paths.ts';

/**
 * Starts a proxy to a site. Playwright's routes cannot replace it, because they see neither the requests of navigation
 * preload nor those for the service worker's script.
 */
export async function startDocumentProxy(target: string) {
  let isHeld = (_request: IncomingMessage) => false;
  let heldRequests = 0;
  let released = Promise.resolve();
  let release = () => {};
  let isInterrupting = false;
  let misconfigured: { status: number; path: RegExp } | undefined;
  let ownPagesSent = 0;
  let incomplete: string | undefined;
  let incompleteSent = 0;
  let shellTarget: string | undefined;
  let shellsRefused = 0;
  let edit: ((script: string) => string) | undefined;
  const server = createServer(async (incoming, outgoing) => {
    let body: Buffer | undefined;
    if (isHeld(incoming)) {
      // Reads the body first, because the browser may disconnect before the request is released.
      body = await buffer(incoming);
      heldRequests += 1;
      await released;
    }
    const { method, headers } = incoming;
    if (misconfigured?.path.test(incoming.url ?? '')) {
      ownPagesSent += 1;
      outgoing.writeHead(misconfigured.status, { 'Content-Type': 'text/html' }).end('<h1>Own page</h1>');
      return;
    }
    const isPage = headers['sec-fetch-dest'] === 'document' || incoming.url?.startsWith('/product/');
    if (incomplete !== undefined && isPage) {
      incompleteSent += 1;
      outgoing.writeHead(200, { 'Content-Type': 'text/html', 'Cache-Control': 'no-store' }).end(incomplete);
      return;
    }
    // Makes the site send a body even if the browser has cached the page.
    if (isInterrupting) delete headers['if-none-match'];
    if (edit && incoming.url === paths.serviceWorker) {
      const script = await (await fetch(target + incoming.url)).text();
      outgoing.writeHead(200, { 'Content-Type': 'text/javascript' }).end(edit(script));
      return;
    }
    const isShell = incoming.url?.startsWith(paths.offlineShell);
    const address = (isShell && shellTarget) || target;
    const forwarded = request(address + incoming.url, { method, headers }, (response) => {
      if (isShell && response.statusCode === 404) shellsRefused += 1;
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      if (isInterrupting && incoming.headers['sec-fetch-dest'] === 'document') {
        response.once('data', (part: Buffer) => outgoing.write(part.subarray(0, 500), () => outgoing.destroy()));
      } else response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    if (body) forwarded.end(body);
    else incoming.pipe(forwarded);
  });
  const hold = (matches: typeof isHeld) => {
    isHeld = matches;
    heldRequests = 0;
    released = new Promise((resolve) => {
      release = resolve;
    });
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Holds document requests until `release` is called. */
    holdDocuments: () => hold(({ headers }) => headers['sec-fetch-dest'] === 'document'),
    /** Holds writes until `release` is called. */
    holdWrites: () => hold(({ method }) => method !== 'GET'),
    /** Returns the number of requests that have been held since the last call of a function that holds requests. */
    heldRequests: () => heldRequests,
    /** Aborts the responses to document requests after their first bytes. */
    interruptDocuments() {
      isInterrupting = true;
    },
    /**
     * Responds to requests with a matching path with the proxy's own page and this status. Undefined forwards all
     * requests.
     */
    setMisconfigured(next: typeof misconfigured) {
      misconfigured = next;
    },
    ownPagesSent: () => ownPagesSent,
    /**
     * Responds to requests for documents and product pages with this page and `no-store`, as the site does if a part of
     * a page is missing. Undefined forwards the requests again.
     */
    sendIncomplete(html: string | undefined) {
      incomplete = html;
    },
    incompleteSent: () => incompleteSent,
    /** Forwards requests to another site from now on, and those for the offline shell to `shellAddress`, if set. */
    setTarget(address: string, shellAddress?: string) {
      target = address;
      shellTarget = shellAddress;
    },
    shellsRefused: () => shellsRefused,
    /** Changes the script of the service worker from now on. */
    editServiceWorker(change: (script: string) => string) {
      edit = change;
    },
    release() {
      isInterrupting = false;
      isHeld = () => false;
      release();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
