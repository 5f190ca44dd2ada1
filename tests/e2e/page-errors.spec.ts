import { expect, test } from '../support/e2e-test.ts';
import { createPageFaults, type PageFaults, reportViolations } from '../support/page-faults.ts';

const FAULTS = {
  'an uncaught error': () => void setTimeout(() => JSON.parse('uncaught')),
  'an unhandled rejection': () => void Promise.reject(new SyntaxError('uncaught')),
  'a console error': () => console.error('SyntaxError: uncaught'),
  'a violation of the content security policy': () => {
    document.body.insertAdjacentHTML('beforeend', '<i style="color: red" title="uncaught">');
  },
};

function failureOf(faults: PageFaults): string {
  try {
    faults.verify();
    return '';
  } catch (error) {
    return String(error);
  }
}

test.describe('the fixture that every browser test uses', () => {
  for (const [name, cause] of Object.entries(FAULTS)) {
    test(`fails a test on ${name}, unless the test expects it`, async ({ browser, site }) => {
      const context = await browser.newContext({ baseURL: site.address });
      const faults = createPageFaults();
      await reportViolations(context);
      faults.watch(context);
      const page = await context.newPage();
      await page.goto('/product/git');
      expect(failureOf(faults)).toBe('');
      await page.evaluate(cause);
      const pattern = /SyntaxError|content policy: style-src|Content Security Policy/;
      await expect.poll(() => failureOf(faults)).toMatch(pattern);
      faults.expectFault(pattern);
      expect(failureOf(faults)).toBe('');
      faults.expectFault(/an error that never comes/);
      expect(failureOf(faults)).toMatch('an error that never comes');
      await context.close();
    });
  }
});
