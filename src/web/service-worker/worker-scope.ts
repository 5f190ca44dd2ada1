// The types of the globals that the service worker uses. TypeScript's library `webworker` also declares them, but it
// conflicts with the library `dom`, which pages need.

interface ExtendableEventLike extends Event {
  waitUntil(work: Promise<unknown>): void;
}

export interface FetchEventLike extends ExtendableEventLike {
  readonly request: Request;
  /** The response to a navigation, if the browser requested it while the worker was starting. */
  readonly preloadResponse: Promise<Response | undefined>;
  respondWith(response: Promise<Response>): void;
}

interface MessageEventLike extends ExtendableEventLike {
  readonly data: unknown;
}

interface WorkerScope {
  readonly location: Location;
  readonly navigator: { readonly onLine: boolean; readonly languages: readonly string[] };
  readonly registration: ServiceWorkerRegistration;
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: ExtendableEventLike) => void): void;
  addEventListener(type: 'fetch', listener: (event: FetchEventLike) => void): void;
  addEventListener(type: 'message', listener: (event: MessageEventLike) => void): void;
}

declare const self: unknown;

export const worker = self as WorkerScope;

/** Inserted by the build: an id that is derived from its inputs, and the URLs of the files to cache for offline use. */
declare const BUILD_ID: string;
declare const BUILD_FILES: readonly string[];
/** Inserted by the server: the digest of the offline shell, which also depends on the settings. */
declare const SHELL_DIGEST: string;

export const build = { id: BUILD_ID, files: BUILD_FILES, shellDigest: SHELL_DIGEST } as const;
