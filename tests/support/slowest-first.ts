import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose tests start processes, slowest first. */
const SLOW = ['/tests/crash/', '/tests/cli/', '/core/database/embedded/', '/core/database/'];

/** Starts slow files first, so the run does not end with a single worker running a slow file. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // The base class sorts files by their durations in the last run, or else by size.
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const found = SLOW.findIndex((folder) => moduleId.includes(folder));
  return found === -1 ? SLOW.length : found;
}
