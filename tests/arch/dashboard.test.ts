import { expect, test } from 'vitest';
import {
  addBackupMetrics,
  addDriftMetrics,
  addLeaderboardMetrics,
  addReadMetrics,
  addSiteMetrics,
  addSubmissionMetrics,
  addWebhookMetrics,
  addWorkerMetrics,
} from '../../src/server/metrics/collected-metrics.ts';
import { createSiteMetrics } from '../../src/server/metrics/site-metrics.ts';
import { readText } from './source-files.ts';

/**
 * Returns the names of all metrics that a site can expose, including those of backups, webhooks, several processes and
 * replicas.
 */
async function exposed(): Promise<Set<string>> {
  const metrics = createSiteMetrics();
  addSiteMetrics(metrics.registers, {
    core: { queuedWrites: () => ({ upvotes: 0, comments: 0, likes: 0 }) },
    cache: { isConnected: () => true, sizeBytes: () => 0, stats: () => ({ hit: 0, miss: 0, stale: 0 }) },
    database: { connections: () => ({ busy: 0, idle: 0, waiting: 0, max: 0 }) },
    live: { stats: () => ({ open: 0, dropped: 0, frames: 0 }) },
  });
  metrics.observeWrites('upvotes').committed(1, 0.001);
  addDriftMetrics(metrics.registers, { drift: () => 0 });
  addBackupMetrics(metrics.registers, { lastSuccess: () => undefined, failures: () => 0 });
  addLeaderboardMetrics(metrics.registers, {
    stats: () => ({ boards: { open: 0, final: 0, overdue: 0 }, votes: { counted: 0, network: 0, operator: 0 } }),
    seconds: () => 0,
    failures: () => 0,
  });
  addWebhookMetrics(metrics.registers, {
    status: () => ({
      waiting: 0,
      expired: 0,
      failingSince: null,
      lastFailure: null,
      goneAt: null,
    }),
    attempts: () => ({ delivered: 0, failed: 0, expired: 0 }),
  });
  addSubmissionMetrics(metrics.registers, { waiting: () => ({ waiting: 0, suspectedSpam: 0, oldestSince: null }) });
  addWorkerMetrics(metrics.registers, { up: () => 0, replaced: () => 0 });
  addReadMetrics(metrics.registers, { stats: () => ({ primary: 0, replicas: 0, usable: 0 }) });
  const hooks: object[] = [];
  metrics.watchRequests({ addHook: (_name: string, hook: object) => hooks.push(hook) } as never);
  const text = await metrics.text();
  const names = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [`${name}`],
  );
  return new Set(names);
}

/** Returns the metrics in the queries of a dashboard. */
function namedIn(dashboard: string): string[] {
  const expressions = [...dashboard.matchAll(/"expr": "((?:[^"\\]|\\.)*)"/g)].map(([, expression = '']) => expression);
  return [
    ...new Set(expressions.flatMap((expression) => expression.match(/\b(?:groundswell|nodejs|process)_\w+/g) ?? [])),
  ];
}

/** Returns the names without the suffixes of histograms, without duplicates. */
const baseNames = (names: Iterable<string>) =>
  new Set([...names].map((name) => name.replace(/_(?:bucket|sum|count)$/, '')));

/** Returns the names of all groundswell_ metrics, without the suffixes of histograms. */
const ourMetrics = async () => [...baseNames(await exposed())].filter((name) => name.startsWith('groundswell_'));

test('every metric in the dashboard is exposed, and the dashboard contains every groundswell_ metric', async () => {
  const named = namedIn(await readText('deploy/grafana-dashboard.json'));
  const known = await exposed();
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  const used = baseNames(named);
  expect((await ourMetrics()).filter((name) => !used.has(name))).toEqual([]);
  expect(named.length).toBeGreaterThan(20);
});

test('docs/operations.md contains every groundswell_ metric', async () => {
  const document = await readText('docs/operations.md');
  const documented = new Set([...document.matchAll(/`(groundswell_\w+)(?:`|\{)/g)].map(([, name]) => name));
  expect((await ourMetrics()).filter((name) => !documented.has(name))).toEqual([]);
});
