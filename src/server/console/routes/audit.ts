import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { AuditRecord, ConsolePage, UndoResult } from '../../../contract/console/records.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { PAGE_QUERY } from '../../../contract/page-query.ts';
import { isDay, TEXT_FORMAT } from '../../../contract/text.ts';
import { type BrowsedAuditEntry, browseAudit } from '../../../core/audit/audit-log.ts';
import { sentenceOf } from '../../../core/audit/audit-sentence.ts';
import { isUndoable, undoEntry } from '../../../core/console/undo-entry.ts';
import { CoreError } from '../../../core/core-error.ts';
import { DAY_MS, END_OF_TIME } from '../../../core/runtime.ts';
import type { ConsoleOptions } from '../console-options.ts';

/** The maximum length is that of a file name, because a target can be the name of an imported file. */
const Text = Type.Optional(Type.String({ maxLength: 255, format: TEXT_FORMAT }));
const Day = Type.Optional(Type.String({ pattern: '^(?!0000)\\d{4}-\\d{2}-\\d{2}$' }));
const Query = Type.Object({
  operator: Text,
  action: Text,
  target: Text,
  /** The first and the last day (UTC). */
  from: Day,
  to: Day,
  ...PAGE_QUERY,
});

/** Routes for reading the audit log and undoing its entries. */
export const auditRoutes: FastifyPluginAsyncTypebox<ConsoleOptions> = async (
  app,
  { database, withoutStatementTimeout, runtime, launches: { timeZone, votesPerNetwork } },
) => {
  app.get(
    CONSOLE_API.audit,
    { schema: { querystring: Query } },
    async ({ query }): Promise<ConsolePage<AuditRecord>> => {
      const { limit = LIMITS.pageSize.default, from, to, ...filter } = query;
      const since = from === undefined ? undefined : dayOf(from);
      const until =
        to === undefined ? undefined : new Date(Math.min(dayOf(to).getTime() + DAY_MS, END_OF_TIME.getTime()));
      const { items, nextCursor } = await browseAudit(database, { ...filter, since, until, limit });
      return { items: items.map(recordOf), nextCursor };
    },
  );

  app.post(
    CONSOLE_API.undo.route,
    { schema: { params: Type.Object({ id: Type.String({ maxLength: 36 }) }) } },
    async ({ params }): Promise<UndoResult> => {
      const options = { runtime, timeZone, votesPerNetwork };
      const { note } = await undoEntry({ database, withoutStatementTimeout }, params.id, options);
      return { note };
    },
  );
};

/** @throws CoreError `bad_request` if the day does not exist, such as 30 February. */
function dayOf(text: string): Date {
  if (!isDay(text)) throw new CoreError('bad_request', `'${text}' is not a date. Use one such as 2026-01-31.`);
  return new Date(`${text}T00:00:00Z`);
}

function recordOf(entry: BrowsedAuditEntry): AuditRecord {
  const undoable = isUndoable(entry.action) && entry.undoneBy === null;
  return { ...entry, sentence: sentenceOf(entry), undoable };
}
