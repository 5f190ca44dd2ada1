import { seededRandom } from './catalogue.mjs';

/** What a first visitor meets: well known beside niche, a strong picture each. Newest first. */
// biome-ignore format: read as a list
const lead = [
  'excalidraw', 'postgresql', 'threejs', 'git', 'apache-echarts', 'neovim', 'tailwind-css', 'node-red', 'python',
  'leaflet', 'ripgrep', 'p5js', 'playwright', 'graphql', 'react', 'jupyter', 'redis', 'reveal-js',
];

// Launches per day, the newest day first. When the sample is loaded, the last day becomes that of the site's first start.
// biome-ignore format: a week on each line
const launchesPerDay = [
  5, 4, 4, 5, 4, 3, 3,
  3, 2, 3, 2, 3, 2, 2,
  2, 2, 2, 2, 1, 2, 2,
  2, 1, 2, 1, 1, 1, 1,
];
const lastDayMs = Date.UTC(2026, 10, 19);
const dayMs = 24 * 3600 * 1000;
const firstHour = 6;
const hours = 16.2;

/** Orders products newest first so that neighbours differ in category, and gives each a distinct creation time. */
export function withLaunchTimes(products) {
  const random = seededRandom('groundswell');
  const ordered = lead.map((id) => products.find((product) => product.id === id)).filter(Boolean);
  const rest = products.filter((product) => !ordered.includes(product)).map((product) => ({ product, key: random() }));
  rest.sort((a, b) => a.key - b.key);
  const left = rest.map((entry) => entry.product);
  while (left.length > 0) {
    const last = ordered.at(-1)?.category;
    const sizes = new Map();
    for (const { category } of left) sizes.set(category, (sizes.get(category) ?? 0) + 1);
    const largest = Math.max(...[...sizes].filter(([name]) => name !== last).map(([, size]) => size), 0);
    // A category that fills more than half of what is left must go now, or it ends up next to itself.
    const urgent = largest * 2 >= left.length;
    const fits = (product) => product.category !== last && (!urgent || sizes.get(product.category) === largest);
    const index = Math.max(left.findIndex(fits), 0);
    ordered.push(...left.splice(index, 1));
  }
  return launchesPerDay.flatMap((launches, daysAgo) =>
    ordered.splice(0, launches).map((product, index) => {
      const slot = hours / launches;
      const hour = firstHour + (launches - 1 - index) * slot + random() * slot * 0.85;
      return {
        ...product,
        createdAt: new Date(Math.floor(lastDayMs - daysAgo * dayMs + hour * 3_600_000)).toISOString(),
      };
    }),
  );
}
