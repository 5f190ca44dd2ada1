import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import { recordAudit } from '../../../core/audit/audit-log.ts';
import { rowsOf } from '../../../core/backups/read-backup.ts';
import { writeBackup } from '../../../core/backups/write-backup.ts';
import { writeExport } from '../../../core/exports/write-export.ts';
import { PACKAGE_VERSION } from '../../../settings/package-root.ts';
import type { ConsoleOptions } from '../console-options.ts';

const Export = Type.Object({
  table: Type.Union([Type.Literal('products'), Type.Literal('upvotes'), Type.Literal('comments')]),
  kind: Type.Union([Type.Literal('csv'), Type.Literal('json'), Type.Literal('json-lines')]),
  counts: Type.Optional(Type.Boolean()),
});

const TYPES = { csv: 'text/csv; charset=utf-8', json: 'application/json', 'json-lines': 'application/x-ndjson' };
const ENDINGS = { csv: 'csv', json: 'json', 'json-lines': 'jsonl' };

/** Files for download: exports, and a backup of the whole site. */
export const downloadRoutes: FastifyPluginAsyncTypebox<ConsoleOptions> = async (
  app,
  { withoutStatementTimeout, runtime, log, pictureFolder },
) => {
  const stamp = () => runtime.now().toISOString().slice(0, 16).replaceAll(/[-:]/g, '');

  app.get(CONSOLE_API.export, { schema: { querystring: Export } }, ({ query }, reply) => {
    const { table, kind, counts = false } = query;
    const file = new PassThrough();
    const write = async (part: string) => {
      if (file.destroyed) throw new Error('The download was cancelled');
      if (!file.write(part)) await Promise.race([once(file, 'drain'), once(file, 'close')]);
    };
    withoutStatementTimeout((database) => writeExport(database, { table, kind, counts, write })).then(
      () => file.end(),
      (error: Error) => {
        if (!file.destroyed) log.warn({ err: error }, 'An export started in the console failed');
        // The response has begun, so only a broken connection can signal the failure.
        file.destroy(error);
      },
    );
    reply.type(TYPES[kind]).header('Content-Disposition', attachment(`${table}-${stamp()}.${ENDINGS[kind]}`));
    return reply.send(file);
  });

  app.get(CONSOLE_API.backup, async (_request, reply) => {
    const folder = await mkdtemp(join(tmpdir(), 'groundswell-backup-'));
    const name = `groundswell-${stamp()}.backup`;
    const path = join(folder, name);
    try {
      const { header, bytes } = await withoutStatementTimeout(async (database) => {
        const written = await writeBackup(database, path, { groundswell: PACKAGE_VERSION, pictureFolder });
        const details = { createdAt: written.header.createdAt, rows: rowsOf(written.header), bytes: written.bytes };
        await recordAudit(database, { action: 'backup', target: name, details });
        return written;
      });
      log.info({ rows: rowsOf(header), bytes }, 'An operator is downloading a backup from the console');
      const file = createReadStream(path);
      file.once('close', () => void rm(folder, { recursive: true, force: true }));
      return reply
        .type('application/octet-stream')
        .header('Content-Length', bytes)
        .header('Content-Disposition', attachment(name))
        .send(file);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  });
};

function attachment(name: string): string {
  return `attachment; filename="${name}"`;
}
