import { url as inspectorUrl } from 'node:inspector';
import type { Logger } from 'pino';
import { connect } from '../../core/database/connect.ts';
import { limitsOfOneProcess, streamsOfOneProcess } from '../../settings/process-settings.ts';
import type { Settings } from '../../settings/settings.ts';
import { createMetricsIfWanted } from '../metrics/expose-metrics.ts';
import { type SiteProcess, startSiteProcess } from '../site-process.ts';
import type { FromPrimary, FromWorker } from './messages.ts';

/** Serves as one of several processes, until the first one says stop, or is gone. */
export async function runWorker(settings: Settings, log: Logger): Promise<void> {
  // A Ctrl-C goes to every process of a terminal, and some service managers signal them all: the first process decides.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  const metrics = createMetricsIfWanted(settings);
  const texts = new Map<number, (text: string) => void>();
  let asked = 0;
  let isStopping = false;
  let close: ((delayMs: number) => Promise<void>) | undefined;
  let begin = (_connections: number) => {};
  const begun = new Promise<number>((resolve) => {
    begin = resolve;
  });

  process.on('message', (message: FromPrimary) => {
    if (message.kind === 'start') begin(message.connections);
    if (message.kind === 'stop') stop(message.delayMs);
    if (message.kind === 'still alive?') tell({ kind: 'alive', isDebugged: inspectorUrl() !== undefined });
    if (message.kind === 'values wanted') {
      const { request } = message;
      void metrics?.values().then((values) => tell({ kind: 'values', request, values }));
    }
    if (message.kind === 'metrics') {
      texts.get(message.request)?.(message.text);
      texts.delete(message.request);
    }
  });

  tell({ kind: 'listening' });

  function stop(delayMs: number): void {
    if (isStopping) return;
    isStopping = true;
    void (close?.(delayMs) ?? Promise.resolve()).then(() => process.exit(0));
  }

  /** The metrics of all processes, which only the first one can gather. */
  function textOfAll(): Promise<string> {
    asked += 1;
    const request = asked;
    return new Promise((resolve) => {
      texts.set(request, resolve);
      tell({ kind: 'metrics wanted', request });
    });
  }

  try {
    const { processes, rateLimits, streamLimits } = settings;
    const maxConnections = await begun;
    const connection = await connect({ ...settings, mode: 'share', log, maxConnections });
    const share: Settings = {
      ...settings,
      rateLimits: rateLimits && limitsOfOneProcess(rateLimits, processes),
      streamLimits: streamsOfOneProcess(streamLimits, processes),
    };
    const site: SiteProcess = await startSiteProcess(connection, share, {
      log,
      metrics: metrics && { ...metrics, text: textOfAll },
    });
    close = async (delayMs) => {
      await site.close(delayMs);
      await connection.close();
    };
    tell({ kind: 'up', address: site.address });
  } catch (error) {
    await new Promise((resolve) => {
      const message: FromWorker = { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
      process.send?.(message, resolve);
    });
    process.exit(1);
  }
}

function tell(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}
