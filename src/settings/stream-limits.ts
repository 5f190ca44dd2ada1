/** How many streams of events may be open at the same time. */
export interface StreamLimits {
  perProcess: number;
  /** Undefined: as many as the process has. */
  perNetwork: number | undefined;
}

/**
 * What 150 MB are enough for, by measurement. A network, which may be a whole company behind one address, gets a tenth:
 * whoever is refused polls instead.
 */
export const DEFAULT_STREAM_LIMITS = { perProcess: 5_000, perNetwork: 500 } as const satisfies StreamLimits;
