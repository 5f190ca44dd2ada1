import { expect, test } from 'vitest';
import { siteLinks } from './document.ts';

const page = { status: 200, title: '', description: '', siteName: 'A & B', siteUrl: '', html: '', state: '' } as const;
const labelsOf = (html: string) => [...html.matchAll(/<a href="[^"]*">([^<]+)<\/a>/g)].map((match) => match[1]);

test('the footer links to the enabled features only', () => {
  expect(labelsOf(siteLinks(page))).toEqual(['RSS', 'API']);
  const all = siteLinks({ ...page, today: '2026-11-22', hasModerationLog: true, hasSubmissions: true });
  expect(labelsOf(all)).toEqual(['Today’s ranking', 'Submit your product', 'Moderation log', 'RSS', 'API']);
});

test('the footer explains in five lines how the ranking works, with the limit of the site', () => {
  const html = siteLinks({ ...page, votesPerNetwork: 7 });
  expect(html.match(/<li>/g)).toHaveLength(5);
  expect(html).toContain('At most 7 votes');
  expect(html).toContain('aria-label="How A &amp; B ranks launches"');
});
