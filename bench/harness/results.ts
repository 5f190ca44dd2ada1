import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Writes the results of a scenario to bench/results, and its chart, if any, to docs/images. */
export async function writeResults(scenario: string, results: object, chart?: string): Promise<void> {
  const machine = { node: process.version, platform: `${process.platform} ${process.arch}`, cores: cpus().length };
  const record = { scenario, date: new Date().toISOString(), ...machine, ...results };
  const file = join(ROOT, 'bench/results', `${scenario}.json`);
  await writeInto(file, `${JSON.stringify(record, undefined, 2)}\n`);
  console.log(`\n${JSON.stringify(record, undefined, 2)}`);
  if (chart !== undefined) await writeInto(join(ROOT, 'docs/images', `bench-${scenario}.svg`), chart);
}

async function writeInto(file: string, text: string): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, text);
}
