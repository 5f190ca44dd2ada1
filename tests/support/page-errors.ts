import { type BrowserContext, expect } from '@playwright/test';

/** Collects the errors of pages, and fails a test on errors that it does not expect. */
export interface PageErrors {
  watch(context: BrowserContext): void;
  /** Expects an error, which must then occur and does not fail the test. */
  expectError(pattern: RegExp): void;
  /** Waits until the expected errors have occurred. Returns whether `verify` would pass. */
  settle(): Promise<boolean>;
  /** Throws if an error was not expected, or if an expected one did not occur. */
  verify(): void;
}

export function createPageErrors(): PageErrors {
  const errors: string[] = [];
  const expected: RegExp[] = [];
  const unexpected = () => errors.filter((error) => !expected.some((pattern) => pattern.test(error)));
  const missing = () => expected.filter((pattern) => !errors.some((error) => pattern.test(error)));
  return {
    watch(context) {
      context.on('weberror', (error) => errors.push(`uncaught: ${error.error().stack ?? error.error()}`));
      context.on('console', (message) => {
        // Chromium's message about a failed request contains the URL only in its location.
        if (message.type() === 'error') errors.push(`console.error: ${message.text()} (${message.location().url})`);
      });
    },
    expectError: (pattern) => expected.push(pattern),
    async settle() {
      await expect
        .poll(missing)
        .toEqual([])
        .catch(() => {});
      return unexpected().length === 0 && missing().length === 0;
    },
    verify() {
      expect(unexpected(), 'errors that the test did not expect').toEqual([]);
      expect(missing().map(String), 'expected errors that did not occur').toEqual([]);
    },
  };
}

/** Makes the pages of a new context report violations of the content security policy as console errors. */
export async function reportViolations(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (violation) => {
      console.error(`content policy: ${violation.violatedDirective} ${violation.blockedURI}`);
    });
  });
}
