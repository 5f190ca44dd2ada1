import { expect, test } from 'vitest';
import { siteLinks } from './document.ts';

const site = { name: 'A & B', url: '', today: '' };
const page = { status: 200, title: '', description: '', site, html: '', state: '' } as const;
const labelsOf = (html: string) => [...html.matchAll(/<a href="[^"]*">([^<]+)<\/a>/g)].map((match) => match[1]);

test('the footer links to the enabled features only', () => {
  expect(labelsOf(siteLinks(page))).toEqual(['RSS', 'API']);
  const all = siteLinks({
    ...page,
    site: { ...site, today: '2026-11-22', hasSubmissions: true, hasModerationLog: true },
  });
  expect(labelsOf(all)).toEqual(['Today’s ranking', 'Submit your product', 'Moderation log', 'RSS', 'API']);
});

test('the footer explains in five lines how the ranking works, with the vote limit of the site', () => {
  const html = siteLinks({ ...page, site: { ...site, votesPerNetwork: 7 } });
  expect(html.match(/<li>/g)).toHaveLength(5);
  expect(html).toContain('At most 7 votes');
  expect(html).toContain('aria-label="How A &amp; B ranks launches"');
});
