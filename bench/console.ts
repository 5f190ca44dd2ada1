import { inviteOperator } from '../src/core/console/operators.ts';
import { beginSession } from '../src/core/console/sessions.ts';
import { startBenchServer } from './harness/bench-database.ts';
import { writeResults } from './harness/results.ts';
import { startSite } from './harness/server-process.ts';
import { quantile } from './harness/statistics.ts';
import type { BenchOptions } from './options.ts';
import { fillDatabase } from './seed/fill.ts';

const SIZES = { products: 1_000_000, upvotes: 2_000_000, comments: 500_000, seed: 1 };
const ACTIONS_PER_ROUND = 20;
const TARGET_MS = 100;

type Call = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** Measures the duration of actions in the console, from the first request to the end of the last response. */
export async function consoleActions({ rounds }: BenchOptions): Promise<void> {
  const server = await startBenchServer();
  const database = await server.createDatabase(0);
  await fillDatabase(database.url, SIZES);
  await inviteOperator(database, 'bench', new Date());
  const cookie = `console_session=${await beginSession(database, 'bench', new Date())}`;
  const products = await database.query<{ id: string }>('SELECT id FROM products ORDER BY md5(id) LIMIT 2000');
  const comments = await database.query<{ id: string }>('SELECT id FROM comments ORDER BY md5(id::text) LIMIT 2000');
  const site = await startSite(database.url);
  const call: Call = async (method, path, body) => {
    const response = await fetch(`${site.address}/api/console${path}`, {
      method,
      headers: {
        cookie,
        'sec-fetch-site': 'same-origin',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  try {
    const actions = actionsOf(call, products, comments);
    const timesMs = new Map<string, number[]>();
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, act] of Object.entries(actions)) {
        const times = timesMs.get(name) ?? [];
        timesMs.set(name, times);
        for (let index = 0; index < ACTIONS_PER_ROUND; index += 1) {
          const begin = performance.now();
          await act();
          times.push(performance.now() - begin);
        }
      }
    }
    const all = [...timesMs.values()].flat();
    await writeResults('console', {
      rounds,
      ...SIZES,
      actions: all.length,
      shareWithin100Ms: all.filter((ms) => ms <= TARGET_MS).length / all.length,
      ...percentiles(all),
      byAction: Object.fromEntries([...timesMs].map(([name, times]) => [name, percentiles(times)])),
    });
  } finally {
    await site.stop();
    await server.stop();
  }
}

function actionsOf(
  call: Call,
  products: { id: string }[],
  comments: { id: string }[],
): Record<string, () => Promise<unknown>> {
  const nextOf = (rows: { id: string }[]) => rows.pop()?.id ?? '';
  return {
    overview: () => call('GET', '/overview'),
    listProducts: () => call('GET', '/products?limit=50'),
    searchProducts: () => call('GET', `/products?limit=50&q=${nextOf(products).slice(0, 3)}`),
    openProduct: () => call('GET', `/products/${nextOf(products)}`),
    async editProduct() {
      const id = nextOf(products);
      const { version } = (await call('GET', `/products/${id}`)) as { version: string };
      return call('PATCH', `/products/${id}`, { version, values: { category: 'Edited' } });
    },
    removeProduct: () => call('POST', '/products/remove', { ids: [nextOf(products)] }),
    listComments: () => call('GET', '/comments?limit=50'),
    hideComment: () => call('POST', '/comments/moderate', { action: 'hide', ids: [nextOf(comments)] }),
    async undo() {
      const { items } = (await call('GET', '/audit?action=comments&limit=20')) as {
        items: { id: string; undoable: boolean; undoes: string | null }[];
      };
      const entry = items.find(({ undoable, undoes }) => undoable && undoes === null);
      return entry && call('POST', `/audit/${entry.id}/undo`);
    },
    auditLog: () => call('GET', '/audit?limit=50'),
  };
}

function percentiles(timesMs: readonly number[]) {
  const sorted = [...timesMs].sort((a, b) => a - b);
  const at = (share: number) => Math.round(quantile(sorted, share) * 10) / 10;
  return { medianMs: at(0.5), p95Ms: at(0.95), maxMs: at(1) };
}
