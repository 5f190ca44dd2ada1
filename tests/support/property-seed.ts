import { randomInt } from 'node:crypto';
import fc from 'fast-check';

const { FUZZ_RUNS, FUZZ_SEED } = process.env;

// The seed is fixed, so a failure is caused by the current change. With FUZZ_RUNS but no FUZZ_SEED, it is random.
fc.configureGlobal({ seed: Number(FUZZ_SEED ?? (FUZZ_RUNS === undefined ? 20_261_122 : randomInt(2 ** 31))) });
