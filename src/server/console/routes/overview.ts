import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { Finding } from '../../../contract/console/records.ts';
import { readOverview, readWaiting } from '../../../core/console/read-overview.ts';
import type { Database } from '../../../core/database/database.ts';
import { memoize } from '../../../core/memoize.ts';
import { readActivity } from '../../../core/stats/read-stats.ts';
import type { ConsoleOptions } from '../console-options.ts';

const DAYS = 30;
const HOURS = 48;
/** How long the data of the charts is cached for all operators, because it takes long to compute on a large site. */
const ACTIVITY_AGE_MS = 60_000;

/** Routes for the overview, the number of waiting items, and the findings of `doctor`, which take the longest. */
export const overviewRoutes: FastifyPluginAsyncTypebox<ConsoleOptions> = async (
  app,
  { database, runtime, launches, backupFolder, examine },
) => {
  const activityOf = memoize(
    (sql: Database) => readActivity(sql, { days: DAYS, hours: HOURS, now: runtime.now() }),
    ACTIVITY_AGE_MS,
    runtime.monotonicMs,
  );
  const readFindings = async (): Promise<Finding[]> => {
    const findings: Finding[] = [];
    for await (const finding of examine()) findings.push(finding);
    return findings;
  };
  // Only concurrent requests share the findings, so operators see at once whether they have solved a problem.
  const findingsOf = memoize(readFindings, 0, runtime.monotonicMs);

  app.get(CONSOLE_API.overview, async () =>
    readOverview(database, {
      rules: { ...launches, now: runtime.now() },
      backupFolder,
      activity: await activityOf(database),
    }),
  );

  app.get(CONSOLE_API.waiting, () => readWaiting(database));

  app.get(CONSOLE_API.doctor, async () => ({ findings: await findingsOf(database) }));
};
