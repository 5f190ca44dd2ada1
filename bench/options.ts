export interface BenchOptions {
  /** Number of measurements per side. */
  rounds: number;
  /** Duration of each measurement. */
  seconds: number;
  /** Number of concurrent keep-alive connections. */
  connections: number;
}

const DEFAULTS: BenchOptions = { rounds: 5, seconds: 4, connections: 256 };

export const OPTIONS_USAGE = Object.keys(DEFAULTS)
  .map((option) => `[--${option}=N]`)
  .join(' ');

/** Parses the flags of a scenario. @throws Error if a flag is unknown or its value is not a number. */
export function readOptions(flags: readonly string[], defaults: BenchOptions = DEFAULTS): BenchOptions {
  const options = { ...defaults };
  for (const flag of flags) {
    const [, option, value] = /^--(rounds|seconds|connections)=(\d+)$/.exec(flag) ?? [];
    if (option === undefined) throw new Error(`Unknown or invalid option ${flag}. Options: ${OPTIONS_USAGE}`);
    options[option as keyof BenchOptions] = Number(value);
  }
  return options;
}
