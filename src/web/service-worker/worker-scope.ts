/**
 * The parts of a service worker's world that ours uses. TypeScript's own library of them cannot stand beside that of a
 * page, whose globals have the same names.
 */
interface Lasting extends Event {
  waitUntil(work: Promise<unknown>): void;
}

export interface Asked extends Lasting {
  readonly request: Request;
  /** The answer to a navigation that the browser asked for while the worker was starting; `undefined`: it did not. */
  readonly preloadResponse: Promise<Response | undefined>;
  respondWith(response: Promise<Response>): void;
}

export interface Told extends Lasting {
  readonly data: unknown;
}

interface WorkerScope {
  readonly location: Location;
  readonly navigator: { readonly onLine: boolean };
  readonly registration: ServiceWorkerRegistration;
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: Lasting) => void): void;
  addEventListener(type: 'fetch', listener: (event: Asked) => void): void;
  addEventListener(type: 'message', listener: (event: Told) => void): void;
}

declare const self: unknown;

export const worker = self as WorkerScope;

/** Put in by the build: what it was made from, and the addresses of its files. */
declare const BUILD_ID: string;
declare const BUILD_FILES: readonly string[];

export const build = { id: BUILD_ID, files: BUILD_FILES } as const;
