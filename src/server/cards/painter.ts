import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../core/log.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import type { Card, PainterMessage, PaintOrder } from './card.ts';

/** Why there is no picture: `busy` and `closed` come from here, `failed` from the drawing itself. */
export class PaintError extends Error {
  override readonly name = 'PaintError';

  constructor(
    readonly kind: 'busy' | 'closed' | 'failed',
    message: string,
  ) {
    super(message);
  }
}

/** Draws cards, one at a time, in another process. */
export interface Painter {
  /** @returns the PNG. @throws PaintError */
  paint(card: Card): Promise<Buffer>;
  /** From now on draws one card and lets none wait behind it: a site that stops answers soon, and does not drop who waits. */
  stopQueueing(): void;
  /** Ends the process at once; who waits hears that it is closed. */
  close(): Promise<void>;
}

export interface PainterOptions {
  log: Log;
  fontFolder: string;
  maxQueued?: number;
  /** For one card. */
  timeoutMs?: number;
  startTimeoutMs?: number;
  idleMs?: number;
  maxResidentBytes?: number;
  /** How long nothing is tried after a process that did not even start. */
  pauseAfterFailedStartMs?: number;
  /** Starts the process that answers orders; a seam for tests of one that hangs or dies. */
  start?: (fontFolder: string) => ChildProcess;
}

interface Job {
  order: PaintOrder;
  resolve(png: Buffer): void;
  reject(error: PaintError): void;
}

/**
 * A queue before one process, which begins with the first card and ends when none was wanted for a minute. One that hangs, crashes
 * or has grown too large is replaced; a card that it was drawing then is answered with an error, and the others wait on.
 */
export function createPainter(options: PainterOptions): Painter {
  const { log, fontFolder, maxQueued = 64, timeoutMs = 10_000, idleMs = 60_000, start = startPainter } = options;
  const { startTimeoutMs = 30_000 } = options;
  const { maxResidentBytes = 192 * 1024 * 1024, pauseAfterFailedStartMs = 60_000 } = options;
  const waiting: Job[] = [];
  let current: Job | undefined;
  let child: ChildProcess | undefined;
  let isReady = false;
  let isStopping = false;
  let isClosed = false;
  let numbered = 0;
  let unusableUntil = 0;
  let timer: NodeJS.Timeout | undefined;

  function paint(card: Card): Promise<Buffer> {
    if (isClosed) return Promise.reject(stopping());
    if (Date.now() < unusableUntil) return Promise.reject(new PaintError('failed', 'Cards cannot be drawn at present'));
    if (isStopping && (current !== undefined || waiting.length > 0)) return Promise.reject(stopping());
    if (waiting.length >= maxQueued) return Promise.reject(new PaintError('busy', 'Too many cards are waiting'));
    return new Promise((resolve, reject) => {
      waiting.push({ order: { number: ++numbered, card }, resolve, reject });
      proceed();
    });
  }

  /** Does whatever is next: start the process, give it a card, or let it end after a while. */
  function proceed(): void {
    if (current !== undefined || isClosed) return;
    if (waiting.length === 0) {
      if (isReady) setTimer(idleMs, () => retire());
      return;
    }
    if (child === undefined) begin();
    else if (isReady) {
      current = waiting.shift();
      setTimer(timeoutMs, () => kill('A card took too long to draw'));
      if (current !== undefined) child.send(current.order);
    }
  }

  function begin(): void {
    const started = start(fontFolder);
    child = started;
    isReady = false;
    // Neither keeps the site from ending.
    started.unref();
    started.channel?.unref();
    setTimer(startTimeoutMs, () => kill('The process that draws cards did not start in time'));
    started.on('message', (message: PainterMessage) => {
      if (child === started) hear(message);
    });
    started.on('error', (error) => log.warn({ err: error }, 'The process that draws cards failed'));
    started.on('exit', (code, signal) => {
      if (child === started) lose(`The process that draws cards ended (${signal ?? code})`);
    });
  }

  function hear(message: PainterMessage): void {
    if (message.kind === 'ready') isReady = true;
    else if (current?.order.number === message.number) {
      const job = current;
      current = undefined;
      if (message.kind === 'painted') {
        const { buffer, byteOffset, byteLength } = message.png;
        job.resolve(Buffer.from(buffer, byteOffset, byteLength));
        if (message.residentBytes > maxResidentBytes) retire();
      } else {
        log.warn({ reason: message.reason, product: job.order.card.product?.id }, 'A card could not be drawn');
        job.reject(new PaintError('failed', message.reason));
      }
    }
    proceed();
  }

  /** The process is gone though somebody may want it. */
  function lose(reason: string): void {
    const hadStarted = isReady;
    const lost = current;
    child = undefined;
    isReady = false;
    current = undefined;
    clearTimeout(timer);
    log.warn({ product: lost?.order.card.product?.id }, reason);
    lost?.reject(new PaintError('failed', reason));
    if (!hadStarted) {
      // It would not start the next time either, as on a machine that the canvas was not built for.
      unusableUntil = Date.now() + pauseAfterFailedStartMs;
      for (const job of waiting.splice(0)) job.reject(new PaintError('failed', reason));
    }
    proceed();
  }

  function kill(reason: string): void {
    const stuck = child;
    lose(reason);
    stuck?.kill('SIGKILL');
  }

  /** Lets an idle process end by itself; the next card starts another. */
  function retire(): void {
    clearTimeout(timer);
    const idle = child;
    child = undefined;
    isReady = false;
    if (idle?.connected) idle.disconnect();
  }

  function setTimer(ms: number, run: () => void): void {
    clearTimeout(timer);
    timer = setTimeout(run, ms).unref();
  }

  return {
    paint,
    stopQueueing() {
      isStopping = true;
      for (const job of waiting.splice(current === undefined ? 1 : 0)) job.reject(stopping());
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      const last = child;
      child = undefined;
      for (const job of [current, ...waiting.splice(0)]) job?.reject(stopping());
      if (last === undefined || last.exitCode !== null || last.signalCode !== null || last.pid === undefined) return;
      last.ref();
      const ended = once(last, 'exit');
      last.kill('SIGKILL');
      await ended;
    },
  };
}

const stopping = () => new PaintError('closed', 'The site is stopping');

/** Of the environment only what any program needs: no password of the site's reaches the process that reads pictures. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'LANG', 'LD_LIBRARY_PATH'];

function startPainter(fontFolder: string): ChildProcess {
  // Beside this file: as a source while developing and testing, and as a build of its own in a built site.
  const isSource = import.meta.url.endsWith('.ts');
  const program = isSource
    ? fileURLToPath(new URL('./painter-process.ts', import.meta.url))
    : join(PACKAGE_FOLDERS.server, 'painter.js');
  const environment = PASSED_ON.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined);
  return fork(program, [fontFolder], {
    execArgv: isSource ? ['--import', 'tsx'] : ['--max-old-space-size=96'],
    env: { ...Object.fromEntries(environment), DISABLE_SYSTEM_FONTS_LOAD: '1', NODE_ENV: 'production' },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}
