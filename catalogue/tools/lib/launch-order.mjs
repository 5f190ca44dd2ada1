import { seededRandom } from './catalogue.mjs';

/** What a first visitor meets: well known beside niche, a strong picture each. Newest first. */
// biome-ignore format: read as a list
const lead = [
  'excalidraw', 'postgresql', 'threejs', 'git', 'apache-echarts', 'neovim', 'tailwind-css', 'node-red', 'python',
  'leaflet', 'ripgrep', 'p5js', 'playwright', 'graphql', 'react', 'jupyter', 'redis', 'reveal-js',
];

const newestMs = Date.UTC(2026, 10, 19, 16, 42, 7, 315);
const spanMs = 178 * 24 * 3600 * 1000;

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
  const step = spanMs / ordered.length;
  return ordered.map((product, index) => {
    const jitter = index === 0 ? 0 : (random() - 0.5) * step * 0.9;
    return { ...product, createdAt: new Date(Math.round(newestMs - index * step + jitter)).toISOString() };
  });
}
