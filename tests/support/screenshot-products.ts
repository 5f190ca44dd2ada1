import { VOTES_PER_NETWORK } from '../../src/contract/limits.ts';
import { finalizeDue } from '../../src/core/leaderboards/finalize.ts';
import type { E2eSite } from './e2e-site.ts';

const HOUR_MS = 3_600_000;

const PRODUCTS = [
  ['neovim', 'Octopus', 'Has an arm for each of eight things at once, and a head for all of them.', ['sea']],
  ['python', 'Python', 'A language that reads like a plan and runs like one.', ['language', 'scripting']],
  [
    'redis',
    'Redis',
    'Keeps what is asked for most where it is found at once, in memory.',
    ['database', 'cache', 'in-memory'],
  ],
  ['leaflet', 'Leaflet', 'Maps for the web in about forty kilobytes.', ['maps', 'javascript', 'mobile']],
  [
    '',
    'A product without a picture',
    'Its name is long enough to take two lines where there is little room for it.',
    [],
  ],
  [
    'git',
    'Git',
    'Every clone holds the whole history.\nBranches cost next to nothing.',
    ['version-control', 'collaboration'],
  ],
  [
    'vim',
    'Vim',
    'An editor that is spoken to in sentences: verbs, counts and nouns, combined as one likes.',
    ['editor'],
  ],
] as const;

/** The day on which all products launch, a minute apart. */
export const SCREENSHOT_DAY = '2026-01-01';

/** Adds fixed content. The last product comes first in the list. All votes count, and the launch day is final. */
export async function addScreenshotProducts(site: E2eSite): Promise<void> {
  await site.addProducts(PRODUCTS.length, (index) => {
    const [picture, name, description, tags] = PRODUCTS[index] ?? PRODUCTS[0];
    return {
      id: `still-${index + 1}`,
      createdAt: new Date(Date.parse(`${SCREENSHOT_DAY}T01:00:00Z`) + index * 60_000).toISOString(),
      name,
      description,
      tags: [...tags],
      image: picture && `/pictures/${picture}/tile.svg`,
      maker: 'Ada and others',
      category: 'Developer Tools',
      team: [
        { name: 'Ada Lovelace', avatar: '', role: 'Maker' },
        { name: 'Grace Hopper', avatar: '', role: 'Design' },
      ],
      screenshots: ['git', 'vim', 'redis'].map((shown) => `/pictures/${shown}/tile.svg`),
    };
  });
  for (const [index, count] of [11, 3, 0, 12, 1_204, 41, 7].entries())
    await site.addUpvotes(`still-${index + 1}`, count, new Date(`${SCREENSHOT_DAY}T12:00:00Z`));
  const rules = { now: new Date(), timeZone: 'UTC', reviewHours: 24 };
  await finalizeDue(site.database, { rules, votesPerNetwork: VOTES_PER_NETWORK });
  const ago = (hours: number) => new Date(Date.now() - (hours + 0.5) * HOUR_MS).toISOString();
  await site.addComments('still-7', [
    {
      authorName: 'Grace',
      authorBadge: 'Sample',
      content: 'It became part of my fingers.',
      likes: 12,
      createdAt: ago(5),
    },
    {
      authorName: 'Linus',
      content: 'One wish:\na map of the modes. https://example.org/modes',
      likes: 3,
      createdAt: ago(49),
    },
  ]);
}
