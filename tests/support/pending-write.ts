import { startDocumentProxy } from './document-proxy.ts';
import { expect, type test } from './e2e-test.ts';

type PendingWrite = (write: () => Promise<void>, meanwhile: () => Promise<void>) => Promise<void>;

/** Returns a test function whose pages reach the site through a proxy that can hold writes. */
export function withPendingWrites(base: typeof test) {
  return base.extend<{ siteProxy: Awaited<ReturnType<typeof startDocumentProxy>>; whilePending: PendingWrite }>({
    siteProxy: async ({ site }, use) => {
      const proxy = await startDocumentProxy(site.address);
      await use(proxy);
      await proxy.stop();
    },

    baseURL: ({ siteProxy }, use) => use(siteProxy.address),

    /** Starts a write, and calls `meanwhile` before the write reaches the site. */
    whilePending: ({ siteProxy }, use) =>
      use(async (write, meanwhile) => {
        siteProxy.holdWrites();
        await write();
        await expect.poll(siteProxy.heldRequests).toBe(1);
        await meanwhile();
        siteProxy.release();
      }),
  });
}
