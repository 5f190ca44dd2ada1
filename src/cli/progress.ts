/** How far a command is, for whoever watches it. */
export interface Progress {
  /** `all` may be unknown. */
  at(done: number, all?: number): void;
  /** Takes the line away. */
  end(): void;
}

/** What is over sooner shows nothing. */
const PATIENCE_MS = 1_000;
const INTERVAL_MS = 100;
const BAR_COLUMNS = 24;

/**
 * A line on standard error that says how far a command is, once it takes longer than a second. On a terminal alone, so that it
 * never ends up in what another program reads.
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
      if (!stream.isTTY || now() - begin < PATIENCE_MS || now() - (shownAt ?? 0) < INTERVAL_MS) return;
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
