import * as paths from '../../src/contract/paths.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { recordRequests, requestsReported } from '../support/network.ts';
import { visitFully } from '../support/offline-page.ts';
import { toast, upvoteOf } from '../support/screen.ts';
import { stateContent } from '../support/screen-state.ts';
import { submissionTest } from '../support/submission-site.ts';

test.describe('§2: HTML documents', () => {
  test('the home page loads nothing from other sites', async ({ page, site }) => {
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${site.address}/`) && !request.url().startsWith('data:')) {
        elsewhere.push(request.url());
      }
    });
    await visitFully(page, '/');
    await requestsReported(page);
    expect(elsewhere).toEqual([]);
  });

  test('browsing, upvoting, switching themes and viewing a screenshot do not violate the content security policy', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    // Collects the violations with their samples, which the fixture does not report.
    const { rich } = await stateContent(site);
    const violations: string[] = [];
    await page.exposeFunction('reportViolation', (violation: string) => violations.push(violation));
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
        const { reportViolation } = window as unknown as { reportViolation(text: string): void };
        reportViolation(`${violatedDirective} ${blockedURI} ${sample}`);
      });
    });
    await visit(page, '/?q=zz');
    // Switches the theme before the upvote, whose toast covers the theme button.
    await page.getByRole('button', { name: 'Dark theme' }).click();
    await upvoteOf(page, 'Zz rich').click();
    await expect(toast(page)).toHaveCount(1);
    await page.getByRole('link', { name: 'Zz rich', exact: true }).click();
    await page.getByRole('link', { name: 'Screenshot 1 of Zz rich' }).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await page.keyboard.press('Escape');
    await page.goto(`/product/${rich.id}#comments`);
    await expect(page.getByRole('heading', { name: /^Discussion/ })).toBeFocused();
    // Violations are reported in order, so this one arrives after all others.
    expectConsoleError(/content policy: style-src/);
    expectConsoleError(/Content Security Policy/);
    const last = 'https://elsewhere.example/last.css';
    await page.evaluate(
      (href) => document.body.insertAdjacentHTML('beforeend', `<link rel="stylesheet" href="${href}">`),
      last,
    );
    await expect.poll(() => violations.at(-1), 'the listener receives a violation').toContain(last);
    expect(violations).toHaveLength(1);
  });
});

submissionTest(
  'if submissions are enabled, a page links to the submission dialog, whose code and styles load on demand',
  async ({ page }) => {
    const code = recordRequests(page, /\/assets\/(?:submission|submit-dialog|maker(?!-keys)|copy-field|dist)/);
    await visitFully(page, '/');
    await expect(page.getByRole('link', { name: 'Submit a product' })).toBeVisible();
    await requestsReported(page);
    expect(code).toEqual([]);
    await page.getByRole('link', { name: 'Submit a product' }).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    expect(code.length).toBeGreaterThan(0);
  },
);

test('if submissions are disabled, a page has no link, dialog or code for them', async ({ page }) => {
  const code = recordRequests(page, /\/assets\/(?:submi|maker(?!-keys))/);
  await visitFully(page, paths.submit);
  await expect(page.getByRole('link', { name: 'Submit a product' })).toHaveCount(0);
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await requestsReported(page);
  expect(code).toEqual([]);
  expect(await page.content()).not.toMatch(/submission/i);
});
