import { type BrowserContext, expect } from '@playwright/test';

/** What went wrong in pages without a test having asked for it. */
export interface PageFaults {
  watch(context: BrowserContext): Promise<void>;
  /** An error in the console that this test causes; it must then come. */
  announce(pattern: RegExp): void;
  /** Fails on what was not announced, and on what was announced and did not come. */
  verify(): void;
}

export function createPageFaults(): PageFaults {
  const faults: string[] = [];
  const announced: RegExp[] = [];
  return {
    async watch(context) {
      context.on('weberror', (error) => faults.push(`uncaught: ${error.error().stack ?? error.error()}`));
      context.on('console', (message) => {
        // The browser's own line about a failed request names the address only as its place.
        if (message.type() === 'error') faults.push(`console.error: ${message.text()} (${message.location().url})`);
      });
      await context.addInitScript(() => {
        document.addEventListener('securitypolicyviolation', (violation) => {
          console.error(`content policy: ${violation.violatedDirective} ${violation.blockedURI}`);
        });
      });
    },
    announce: (pattern) => announced.push(pattern),
    verify() {
      const unexpected = faults.filter((fault) => !announced.some((pattern) => pattern.test(fault)));
      const missing = announced.filter((pattern) => !faults.some((fault) => pattern.test(fault)));
      expect(unexpected, 'errors that no test announced').toEqual([]);
      expect(missing.map(String), 'announced errors that did not come').toEqual([]);
    },
  };
}
