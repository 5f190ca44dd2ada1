import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import type { NewSubmission } from '../../src/contract/submissions/schema.ts';
import { type Core, createCore } from '../../src/core/core.ts';
import {
  approveSubmission,
  declineSubmission,
  scheduleSubmission,
  undoDecision,
} from '../../src/core/submissions/decide-submission.ts';
import { launchRules } from '../../src/core/submissions/launch-product.ts';
import { inspectSubmission } from '../../src/core/submissions/list-submissions.ts';
import { createSubmissions, type Submissions } from '../../src/core/submissions/submissions.ts';
import { createTestClock } from './test-clock.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

/** Creates a database and the operations of makers and operators on it, with a clock that only the test advances. */
export function openSubmissionHarness() {
  const clock = createTestClock();
  const site = {} as { database: TestDatabase; submissions: Submissions; core: Core };
  beforeAll(async () => {
    site.database = await createTestDatabase();
    site.core = createCore(site.database, { runtime: clock });
    site.submissions = createSubmissions(site.database, {
      runtime: clock,
      timeZone: 'UTC',
      getStandings: site.core.getStandings,
    });
  });
  afterAll(() => site.database.drop());

  const rules = () => launchRules(clock, 'UTC');
  return {
    clock,
    site,
    inHours: (hours: number) => new Date(clock.now().getTime() + hours * 3_600_000),
    /** Creates a submission. @returns its id and the maker key. */
    async submit(fields: Partial<NewSubmission> = {}) {
      const sent = { name: `Tide ${randomUUID().slice(0, 8)}`, ...fields };
      const { submission, makerKey } = await site.submissions.create(sent, { session: `session-${randomUUID()}` });
      return { id: submission.id, makerKey };
    },
    approve: (id: string, revision?: number) => approveSubmission(site.database, { id, revision }, rules()),
    schedule: (id: string, at: Date, revision?: number) =>
      scheduleSubmission(site.database, { id, revision }, at, rules()),
    decline: (id: string, reason = 'No picture', revision?: number) =>
      declineSubmission(site.database, { id, revision }, reason, rules()),
    undo: (id: string, revision?: number) => undoDecision(site.database, { id, revision }, rules()),
    inspect: (id: string) => inspectSubmission(site.database, id, rules()),
    /** Adds a comment with the badge `Maker`. */
    async commentAsMaker(maker: { id: string; makerKey: string }) {
      const author = await site.submissions.authorOf(maker);
      await site.core.addComment({ productId: maker.id, content: 'Ask me' }, { session: 'session-maker' }, { author });
    },
    /** Returns whether visitors see the product. */
    isPublic: async (id: string) => (await site.core.getProduct(id)) !== null,
  };
}

/** Returns the code of the error that an operation throws, or `done` if it succeeds. */
export function codeOf(operation: Promise<unknown>): Promise<string> {
  return operation.then(
    () => 'done',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );
}
