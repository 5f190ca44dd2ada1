import { url as inspectorUrl } from 'node:inspector';
import type { Logger } from 'pino';
import { connect } from '../../core/database/connect.ts';
import { limitsPerProcess, streamLimitsPerProcess } from '../../settings/rate-limits.ts';
import type { Settings } from '../../settings/settings.ts';
import { createMetricsIfEnabled } from '../metrics/serve-metrics.ts';
import { type SiteProcess, startSiteProcess } from '../site-process.ts';
import type { FromPrimary, FromWorker } from './heartbeat.ts';
import { listenOnSocket, type SocketHandle } from './listening-sockets.ts';

/** Process titles, which `ps` shows. */
const WORKER_TITLE = 'groundswell worker';
const SPARE_TITLE = 'groundswell spare worker';

/** The start message, with its socket. */
type Start = Extract<FromPrimary, { kind: 'start' }> & { socket: SocketHandle };

/** Serves requests as one of several workers, until the primary process stops this process or exits. */
export async function runWorker(settings: Settings, log: Logger): Promise<void> {
  // Ctrl-C signals every process in the terminal, and some service managers signal all processes of a service. Workers
  // ignore these signals, because the primary process decides when they stop.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  const metrics = createMetricsIfEnabled(settings);
  const pendingMetrics = new Map<number, (text: string | undefined) => void>();
  let lastRequest = 0;
  let isStopping = false;
  let close: ((delayMs: number) => Promise<void>) | undefined;
  let begin = (_start: Start) => {};
  const begun = new Promise<Start>((resolve) => {
    begin = resolve;
  });

  process.on('message', (message: FromPrimary, handle: unknown) => {
    if (message.kind === 'start') begin({ ...message, socket: handle as SocketHandle });
    if (message.kind === 'stop') stop(message.delayMs);
    if (message.kind === 'ping') sendToPrimary({ kind: 'pong', isDebugged: inspectorUrl() !== undefined });
    if (message.kind === 'values requested') {
      const { request } = message;
      void metrics?.values().then((values) => sendToPrimary({ kind: 'values', request, values }));
    }
    if (message.kind === 'metrics') {
      pendingMetrics.get(message.request)?.(message.text);
      pendingMetrics.delete(message.request);
    }
  });

  process.title = SPARE_TITLE;
  sendToPrimary({ kind: 'booted' });

  function stop(delayMs: number): void {
    if (isStopping) return;
    isStopping = true;
    void (close?.(delayMs) ?? Promise.resolve()).then(() => process.exit(0));
  }

  /** Returns the metrics of all processes, which only the primary process can aggregate. */
  function aggregatedText(): Promise<string> {
    lastRequest += 1;
    const request = lastRequest;
    return new Promise((resolve, reject) => {
      pendingMetrics.set(request, (text) => {
        if (text === undefined) reject(new Error('The primary process cannot aggregate the metrics'));
        else resolve(text);
      });
      sendToPrimary({ kind: 'metrics requested', request });
    });
  }

  try {
    const { processes, rateLimits, streamLimits } = settings;
    const { brand, connections: maxConnections, socket } = await begun;
    process.title = WORKER_TITLE;
    const connection = await connect({ ...settings, mode: 'share', log, maxConnections });
    const share: Settings = {
      ...settings,
      rateLimits: rateLimits && limitsPerProcess(rateLimits, processes),
      streamLimits: streamLimitsPerProcess(streamLimits, processes),
    };
    const site: SiteProcess = await startSiteProcess(
      connection,
      share,
      { log, metrics: metrics && { ...metrics, text: aggregatedText }, brand },
      { listen: (app) => listenOnSocket(app, socket) },
    );
    close = async (delayMs) => {
      await site.close(delayMs);
      await connection.close();
    };
    sendToPrimary({ kind: 'up', address: site.address });
  } catch (error) {
    await new Promise((resolve) => {
      const message: FromWorker = { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
      process.send?.(message, resolve);
    });
    process.exit(1);
  }
}

function sendToPrimary(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}
