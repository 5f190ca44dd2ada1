import { createDriftSampler } from '../../core/counts/drift-sampler.ts';
import type { Database } from '../../core/database/database.ts';
import type { Log } from '../../core/log.ts';

export interface DriftWatch {
  drift(): number;
  close(): void;
}

const INTERVAL_MS = 5_000;

/** Compares a few products' counts with their rows every few seconds, for as long as the site runs. */
export function watchDrift(database: Database, log: Log, intervalMs = INTERVAL_MS): DriftWatch {
  const sampler = createDriftSampler(database);
  let running = false;
  const timer = setInterval(step, intervalMs).unref();

  async function step(): Promise<void> {
    // A count of millions of rows may take longer than the pause between two.
    if (running) return;
    running = true;
    try {
      const wrong = await sampler.step();
      if (wrong.length > 0) log.error({ wrong }, 'Counts are not those of their rows: run `counts check --repair`');
    } catch (error) {
      log.warn({ err: error }, 'Counts could not be checked');
    } finally {
      running = false;
    }
  }
  return { drift: () => sampler.drift(), close: () => clearInterval(timer) };
}
