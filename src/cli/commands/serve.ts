import { Command } from 'commander';
import type { Logger } from 'pino';
import { type Site, serve } from '../../server/serve.ts';
import { createLog } from '../../settings/logging.ts';
import { readSettings } from '../../settings/settings.ts';

/** In-flight answers get this long when the site stops. */
const CLOSE_DEADLINE_MS = 10_000;

export function serveCommand(): Command {
  return new Command('serve').description('run the site until it is stopped (Ctrl-C or SIGTERM)').action(async () => {
    const settings = readSettings(process.env);
    const log = createLog(settings.logLevel, process.stdout);
    // Before the site is up as well: a stop in the middle of a start must not leave a database behind.
    const stopped = new Promise<NodeJS.Signals>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, resolve);
    });
    const site = await serve(settings, log);
    announce(site);
    await stopped;
    await closeInTime(site, log);
  });
}

function announce({ address, dataLocation, productCount }: Site): void {
  console.log(`
  Groundswell is up.

    Address   ${address}
    Data      ${dataLocation}
    Products  ${productCount.toLocaleString('en')}

  Stop it with Ctrl-C.
`);
}

async function closeInTime(site: Site, log: Logger): Promise<void> {
  const deadline = setTimeout(() => {
    log.error('The site did not stop in time; ending it now');
    process.exit(1);
  }, CLOSE_DEADLINE_MS);
  await site.close();
  clearTimeout(deadline);
  log.info('Stopped');
}
