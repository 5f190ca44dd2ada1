import cluster from 'node:cluster';
import { Command } from 'commander';
import type { Logger } from 'pino';
import { formatCount } from '../../contract/text.ts';
import type { Log } from '../../core/runtime.ts';
import { startDeadline } from '../../server/deadline.ts';
import type { RunningSite } from '../../server/serve.ts';
import { createLog } from '../../settings/logging.ts';
import { readSettings, type Settings } from '../../settings/settings.ts';
import { print } from '../terminal/output.ts';

/** The time for requests in flight to finish when the site stops, in addition to STOP_DELAY. */
const REQUESTS_DEADLINE_MS = 10_000;
/**
 * The time for background jobs to finish their statements, and then for the embedded database to stop, which may take a
 * minute.
 */
const DATABASE_DEADLINE_MS = 75_000;

export function serveCommand(): Command {
  return new Command('serve').description('run the site until it is stopped (Ctrl-C or SIGTERM)').action(async () => {
    const settings = readSettings(process.env);
    const log = createLog(settings.logLevel, process.stdout);
    // The server is imported dynamically, because other commands start faster without its code.
    if (cluster.isWorker) await (await import('../../server/cluster/run-worker.ts')).runWorker(settings, log);
    else await runSite(settings, log);
  });
}

async function runSite(settings: Settings, log: Logger): Promise<void> {
  // Signals are handled before the site is up: a stop during the start must not leave a database running.
  let isStopping = false;
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, resolve);
  });
  void stopped.then(() => {
    isStopping = true;
  });
  const site = await start(settings, log).catch((error: unknown) => {
    // Ctrl-C also ends workers that do not handle signals yet, and then the start fails.
    if (!isStopping) throw error;
    log.info('Stopped');
    process.exit(0);
  });
  announce(site);
  const reason = await Promise.race([stopped, ...(site.lost ? [site.lost] : [])]);
  // The delay lets load balancers remove this site. Only SIGTERM starts the delay, and later signals do not shorten it.
  const isStopped = await closeInTime(site, reason === 'SIGTERM' ? settings.stopDelayMs : 0, log);
  if (reason instanceof Error && isStopped) throw reason;
  // Work that did not end, such as a download whose reads wait for a lock, would keep the process running.
  process.exit(isStopped ? 0 : 1);
}

async function start(settings: Settings, log: Logger): Promise<RunningSite & { lost?: Promise<Error> }> {
  if (settings.processes === 1) return (await import('../../server/serve.ts')).serve(settings, log);
  return (await import('../../server/cluster/serve-by-workers.ts')).serveByWorkers(settings, log);
}

function announce({ address, dataLocation, productCount }: RunningSite): void {
  print(`
  Groundswell is up.

    Address   ${address}
    Data      ${dataLocation}
    Products  ${formatCount(productCount)}

  Press Ctrl-C to stop it.
`);
}

/**
 * Stops the site within the deadlines. If requests do not end in time, only the database is closed, because an
 * embedded one would continue to run after this process exits.
 * @returns whether everything ended in time. @throws the error of a part that cannot be closed.
 */
export async function closeInTime(
  site: Pick<RunningSite, 'stopServing' | 'close' | 'abort'>,
  delayMs: number,
  log: Log,
): Promise<boolean> {
  const haveRequestsEnded = await endsWithin(delayMs + REQUESTS_DEADLINE_MS, site.stopServing(delayMs));
  if (!haveRequestsEnded) log.error('Requests did not end in time; aborting them');
  // `close` also throws the error of `stopServing`.
  const closing = haveRequestsEnded ? site.close() : site.abort();
  const isClosed = await endsWithin(DATABASE_DEADLINE_MS, closing);
  if (isClosed) await closing;
  else log.error('Background jobs or the database did not end in time; exiting now');
  if (haveRequestsEnded && isClosed) log.info('Stopped');
  return haveRequestsEnded && isClosed;
}

/** Returns whether work ends within the deadline, even with an error. */
function endsWithin(deadlineMs: number, work: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const endDeadline = startDeadline(deadlineMs, () => resolve(false));
    const end = () => {
      endDeadline();
      resolve(true);
    };
    work.then(end, end);
  });
}
