/** The progress of a command. */
export interface Progress {
  /** `all` is undefined where the total is unknown. */
  at(done: number, all?: number): void;
  /** Clears the line. */
  end(): void;
}

/** Shorter work shows no progress. */
const SHOW_AFTER_MS = 1_000;
const INTERVAL_MS = 100;
const BAR_COLUMNS = 24;

/**
 * Shows progress in one line on standard error, once a command takes longer than a second. Only on a terminal, so it never ends
 * up in what another program reads.
 */
export function startProgress(
  what: string,
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
  now: () => number = () => performance.now(),
): Progress {
  const begin = now();
  let shownAt: number | undefined;
  return {
    at(done, all) {
      if (!stream.isTTY || now() - begin < SHOW_AFTER_MS || now() - (shownAt ?? 0) < INTERVAL_MS) return;
      shownAt = now();
      stream.write(`\r\x1b[K${what}  ${describe(done, all)}`);
    },
    end() {
      if (shownAt !== undefined) stream.write('\r\x1b[K');
      shownAt = undefined;
    },
  };
}

function describe(done: number, all: number | undefined): string {
  const count = done.toLocaleString('en');
  if (all === undefined || all <= 0) return count;
  const share = Math.min(1, done / all);
  const filled = Math.floor(share * BAR_COLUMNS);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_COLUMNS - filled)}`;
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${count} of ${all.toLocaleString('en')}`;
}
