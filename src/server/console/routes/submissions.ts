import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import {
  type ConsolePage,
  type DecidedSubmission,
  MAX_REASON_CHARACTERS,
  type SubmissionRecord,
} from '../../../contract/console/records.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { PageQuerySchema } from '../../../contract/page-query.ts';
import { PRODUCT_ID_PATTERN } from '../../../contract/products/fields.ts';
import { INSTANT_FORMAT, VISIBLE_FORMAT } from '../../../contract/text.ts';
import { CoreError } from '../../../core/core-error.ts';
import type { Database } from '../../../core/database/database.ts';
import { readBeforeCommit } from '../../../core/database/transactions.ts';
import {
  approveSubmission,
  type DecisionTarget,
  declineSubmission,
  scheduleSubmission,
} from '../../../core/submissions/decide-submission.ts';
import { launchRules } from '../../../core/submissions/launch-product.ts';
import { inspectSubmission, listSubmissions } from '../../../core/submissions/list-submissions.ts';
import type { SubmissionRow } from '../../../core/submissions/submission-row.ts';
import type { ConsoleOptions } from '../console-options.ts';

const Params = Type.Object({ id: Type.String({ pattern: PRODUCT_ID_PATTERN }) });
/** Every decision contains the revision that the operator has seen, so no newer revision is launched by mistake. */
const Decision = Type.Object({
  action: Type.Union([Type.Literal('approve'), Type.Literal('schedule'), Type.Literal('decline')]),
  // At most the maximum of PostgreSQL's type integer.
  revision: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  launchAt: Type.Optional(Type.String({ format: INSTANT_FORMAT })),
  reason: Type.Optional(Type.String({ maxLength: MAX_REASON_CHARACTERS, format: VISIBLE_FORMAT })),
});

/** Lists the submissions that wait for a decision, and decides on them. */
export const submissionRoutes: FastifyPluginAsyncTypebox<ConsoleOptions> = async (
  app,
  { database, runtime, launches },
) => {
  const rules = () => launchRules(runtime, launches.timeZone);

  app.get(
    CONSOLE_API.submissions,
    { schema: { querystring: PageQuerySchema } },
    async ({ query: { limit = LIMITS.pageSize.default, cursor } }): Promise<ConsolePage<SubmissionRecord>> =>
      listSubmissions(database, { status: 'waiting', limit, cursor }, rules()),
  );

  app.post(
    CONSOLE_API.decideSubmission.route,
    { schema: { params: Params, body: Decision } },
    async ({ params, body }): Promise<DecidedSubmission> => {
      const target: DecisionTarget = { id: params.id, revision: body.revision };
      try {
        const [{ undo }, submission] = await readBeforeCommit(database, decide, (sql) =>
          inspectSubmission(sql, params.id, rules()),
        );
        if (undo === null) throw new Error('The decision was stored without the data to undo it');
        return { submission, auditId: undo.auditId };
      } catch (error) {
        if (!(error instanceof CoreError) || error.code !== 'submission_changed') throw error;
        throw new CoreError('submission_changed', 'The maker or another operator has changed this submission.', {
          current: await inspectSubmission(database, params.id, rules()),
        });
      }

      function decide(on: Database): Promise<SubmissionRow> {
        switch (body.action) {
          case 'approve':
            return approveSubmission(on, target, rules());
          case 'schedule':
            return scheduleSubmission(on, target, new Date(required('launchAt')), rules());
          case 'decline':
            return declineSubmission(on, { ...target, ignoresEdits: true }, required('reason'), rules());
        }
      }

      function required(field: 'launchAt' | 'reason'): string {
        const value = body[field];
        if (value === undefined) throw new CoreError('bad_request', `The parameter '${field}' is missing.`);
        return value;
      }
    },
  );
};
