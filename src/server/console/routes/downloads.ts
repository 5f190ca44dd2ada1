import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import { recordAudit } from '../../../core/audit/audit-log.ts';
import { rowsOf } from '../../../core/backups/read-backup.ts';
import { sendBackup } from '../../../core/backups/write-backup.ts';
import { CoreError } from '../../../core/core-error.ts';
import type { Database } from '../../../core/database/database.ts';
import { writeExport } from '../../../core/exports/write-export.ts';
import { PACKAGE_VERSION } from '../../../settings/package-root.ts';
import { DAMAGED_PICTURE } from '../../jobs/schedule-backups.ts';
import type { ConsoleOptions } from '../console-options.ts';
import type { ConsoleCookies } from '../cookies.ts';

const Export = Type.Object({
  table: Type.Union([Type.Literal('products'), Type.Literal('upvotes'), Type.Literal('comments')]),
  kind: Type.Union([Type.Literal('csv'), Type.Literal('json'), Type.Literal('json-lines')]),
  counts: Type.Optional(Type.Boolean()),
});

const TYPES = { csv: 'text/csv; charset=utf-8', json: 'application/json', 'json-lines': 'application/x-ndjson' };
const ENDINGS = { csv: 'csv', json: 'json', 'json-lines': 'jsonl' };

/** A HEAD request would read the whole site and record a backup that no operator received. */
const WITHOUT_HEAD = { exposeHeadRoute: false };

/** Routes that send files for download: exports, and a backup of the whole site. */
export const downloadRoutes: FastifyPluginAsyncTypebox<ConsoleOptions & { cookies: ConsoleCookies }> = async (
  app,
  { withoutStatementTimeout, runtime, log, pictureFolder, streams, cookies },
) => {
  const stamp = () => runtime.now().toISOString().slice(0, 16).replaceAll(/[-:]/g, '');

  app.get(CONSOLE_API.export, { ...WITHOUT_HEAD, schema: { querystring: Export } }, (request, reply) => {
    const { table, kind, counts = false } = request.query;
    const file = openFile(request);
    const write = writerTo(file);
    const writing = withoutStatementTimeout((database) => writeExport(database, { table, kind, counts, write }));
    sendFile(file, writing, 'An export started in the console failed');
    reply.type(TYPES[kind]).header('Content-Disposition', attachment(`${table}-${stamp()}.${ENDINGS[kind]}`));
    return reply.send(file);
  });

  app.get(CONSOLE_API.backup, WITHOUT_HEAD, (request, reply) => {
    const name = `groundswell-${stamp()}.backup`;
    const file = openFile(request);
    const send = async (database: Database) => {
      const onDamagedPicture = (picture: string) => log.warn({ picture }, DAMAGED_PICTURE);
      const options = { groundswell: PACKAGE_VERSION, pictureFolder, onDamagedPicture, end: false };
      const header = await sendBackup(database, file, options);
      const details = { createdAt: header.createdAt, rows: rowsOf(header) };
      // The backup is complete, so the download succeeds even if the entry cannot be written.
      await recordAudit(database, { action: 'backup', target: name, details }).catch((error: Error) =>
        log.warn({ err: error }, 'Cannot record in the audit log that an operator downloaded a backup'),
      );
      log.info({ rows: details.rows }, 'An operator downloaded a backup from the console');
    };
    sendFile(file, withoutStatementTimeout(send), 'A backup started in the console failed');
    return reply.type('application/octet-stream').header('Content-Disposition', attachment(name)).send(file);
  });

  /** Creates the stream of a download. The stream is destroyed if the operator's session ends. */
  function openFile(request: FastifyRequest): PassThrough {
    const file = new PassThrough();
    const token = cookies.sessionOf(request) ?? '';
    const end = () => void file.destroy(new CoreError('not_signed_in', 'Please sign in.'));
    return file.once('close', streams.endWithSession(token, end));
  }

  /** Ends the response when the file is complete, or aborts the connection if writing it fails. */
  function sendFile(file: PassThrough, writing: Promise<unknown>, failure: string): void {
    writing.then(
      () => file.end(),
      (error: Error) => {
        if (!file.destroyed) log.warn({ err: error }, failure);
        // The response has begun, so only an aborted connection can signal the failure.
        file.destroy(error);
      },
    );
  }
};

/**
 * Returns a function that writes a part of a file. Its promise resolves when the client has read enough for the next
 * part, and rejects if the client has disconnected.
 */
export function writerTo(file: PassThrough): (part: string) => Promise<void> {
  const closing = new AbortController();
  file.once('close', () => closing.abort());
  return async (part) => {
    if (file.destroyed) throw new Error('The download was cancelled');
    // An abort signal ends the wait, because waiting for `close` here would add a listener to the file for each part.
    if (!file.write(part)) await once(file, 'drain', { signal: closing.signal });
  };
}

function attachment(name: string): string {
  return `attachment; filename="${name}"`;
}
