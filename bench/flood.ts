import type { BenchOptions } from './main.ts';
export async function flood(_o: BenchOptions): Promise<void> {}
