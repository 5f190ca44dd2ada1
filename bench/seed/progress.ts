const WIDTH = 30;
const REDRAW_MS = 100;

/** Reports the progress of a long job, which consists of stages. */
export interface Progress {
  /** Starts a stage with a known number of items. */
  start(title: string, total: number): { add(count: number): void; end(): void };
  /** Runs a stage without countable items, and prints its duration. */
  timed<Result>(title: string, work: () => Promise<Result>): Promise<Result>;
}

export const silentProgress: Progress = {
  start: () => ({ add: () => {}, end: () => {} }),
  timed: (_title, work) => work(),
};

/** Starts a progress bar on standard error: redrawn in place on a terminal, otherwise one line per finished stage. */
function startBar(title: string, total: number): ReturnType<Progress['start']> {
  const started = performance.now();
  let done = 0;
  let drawnAt = 0;
  const line = () => {
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const bar = '█'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '░');
    const seconds = (performance.now() - started) / 1_000;
    const rate = Math.round(done / Math.max(seconds, 0.001)).toLocaleString('en');
    return `${title.padEnd(16)} ${bar} ${done.toLocaleString('en')} of ${total.toLocaleString('en')}, ${seconds.toFixed(1)} s, ${rate}/s`;
  };
  return {
    add(count) {
      done += count;
      if (!process.stderr.isTTY || performance.now() - drawnAt < REDRAW_MS) return;
      drawnAt = performance.now();
      process.stderr.write(`\r\u001b[K${line()}`);
    },
    end() {
      process.stderr.write(`${process.stderr.isTTY ? '\r\u001b[K' : ''}${line()}\n`);
    },
  };
}

/** Runs a stage, and prints its title and duration. */
async function timed<Result>(title: string, work: () => Promise<Result>): Promise<Result> {
  const started = performance.now();
  if (process.stderr.isTTY) process.stderr.write(`${title.padEnd(16)} …`);
  const result = await work();
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stderr.write(`${process.stderr.isTTY ? '\r\u001b[K' : ''}${title.padEnd(16)} ${seconds} s\n`);
  return result;
}

export const terminalProgress: Progress = { start: startBar, timed };
