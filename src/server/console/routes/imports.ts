import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import {
  IMPORT_HEARTBEAT_MS,
  IMPORT_TOO_LARGE,
  type ImportEvent,
  type ImportSummary,
  MAX_IMPORT_BYTES,
} from '../../../contract/console/records.ts';
import { TEXT_FORMAT } from '../../../contract/text.ts';
import { CoreError } from '../../../core/core-error.ts';
import { UnknownOutcomeError } from '../../../core/database/database-errors.ts';
import { systemCode } from '../../../core/file-system.ts';
import { readColumnMap } from '../../../core/imports/columns.ts';
import { ImportRefusedError, ImportUsageError, MAX_LISTED } from '../../../core/imports/import-errors.ts';
import { type ImportReport, importProducts } from '../../../core/imports/import-products.ts';
import { DEFAULT_SEPARATOR } from '../../../core/imports/read-values.ts';
import { allowSlowBody } from '../../http/server-limits.ts';
import type { ConsoleOptions } from '../console-options.ts';
import type { ConsoleCookies } from '../cookies.ts';

const Query = Type.Object({
  /** The file's name in the audit log. */
  name: Type.String({ minLength: 1, maxLength: 255, format: TEXT_FORMAT }),
  kind: Type.Union([Type.Literal('csv'), Type.Literal('json'), Type.Literal('json-lines')]),
  /** A JSON array of `field=column` strings, as for `--map` of `groundswell import`. */
  map: Type.Optional(Type.String({ maxLength: 4_000 })),
  slugifyIds: Type.Optional(Type.Boolean()),
  dryRun: Type.Optional(Type.Boolean()),
});

/** The minimum interval between progress events that report changes. */
const PROGRESS_INTERVAL_MS = 100;
/** How long a stopping site waits for aborted uploads and imports. */
const ABORT_TIMEOUT_MS = 5_000;

interface Options extends ConsoleOptions {
  /** @throws CoreError `not_signed_in`. */
  requireOperator(request: FastifyRequest): Promise<void>;
  cookies: ConsoleCookies;
}

/** Imports product files. The body is the file; the response streams the progress and ends with the result. */
export const importRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { withoutStatementTimeout, runtime, launches: { timeZone }, log, streams, requireOperator, cookies },
) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/octet-stream', (_request, body, done) => done(null, body));
  // When the site stops, imports that have not committed are aborted; otherwise they would outlive their responses.
  let stopped: CoreError | undefined;
  /** The uploads and imports, each with a promise that resolves when its file has been deleted. */
  const running = new Map<AbortController, Promise<void>>();
  app.addHook('preClose', async () => {
    stopped = new CoreError('unavailable', 'The site is stopping. Nothing was imported.');
    for (const controller of running.keys()) controller.abort(stopped);
  });
  app.addHook('onClose', async () => {
    await Promise.race([Promise.all(running.values()), delay(ABORT_TIMEOUT_MS, undefined, { ref: false })]);
  });

  app.post(CONSOLE_API.import, { schema: { querystring: Query } }, async (request, reply) => {
    const { name, kind, map = '[]', slugifyIds = false, dryRun = false } = request.query;
    const columnMap = readMap(map);
    const { body } = request;
    if (!(body instanceof Readable))
      throw new CoreError('unsupported_media_type', 'Send the file as application/octet-stream.');
    // The request has a valid session, so its body may take longer to arrive.
    allowSlowBody(request.raw);
    const folder = await mkdtemp(join(tmpdir(), 'groundswell-upload-'));
    const controller = new AbortController();
    const { signal } = controller;
    let confirmRemoval = () => {};
    running.set(controller, new Promise<void>((resolve) => (confirmRemoval = resolve)));
    // The site may have begun to stop while the folder was created.
    if (stopped) controller.abort(stopped);
    const removeFolder = async () => {
      await rm(folder, { recursive: true, force: true }).catch((error: Error) =>
        log.warn({ err: error, folder }, 'Cannot delete the uploaded file of an import. Delete its folder by hand.'),
      );
      running.delete(controller);
      confirmRemoval();
    };
    const removeFromSession = streams.endWithSession(cookies.sessionOf(request) ?? '', () =>
      controller.abort(new CoreError('not_signed_in', 'You have been signed out. Nothing was imported.')),
    );
    // The path does not contain the sender's file name, which may be `..`, or too long.
    const path = join(folder, 'upload');
    try {
      await saveBody(body, path, signal);
      // An upload may take minutes, during which the operator's access may have been revoked.
      await requireOperator(request);
      signal.throwIfAborted();
    } catch (error) {
      removeFromSession();
      await removeFolder();
      signal.throwIfAborted();
      throw systemCode(error) === 'ECONNRESET' ? new CoreError('bad_request', 'The client disconnected.') : error;
    }
    const events = new PassThrough();
    const sendEvent = (event: ImportEvent) => void events.write(`${JSON.stringify(event)}\n`);
    const progress = reportProgress(sendEvent, runtime.monotonicMs);
    withoutStatementTimeout(
      (database) =>
        importProducts(database, {
          ...{ path, name, kind, map: columnMap, slugifyIds, dryRun },
          separator: DEFAULT_SEPARATOR,
          now: runtime.now,
          timeZone,
          log,
          onProgress(stage, done) {
            signal.throwIfAborted();
            progress.update(stage, done);
          },
        }),
      signal,
    )
      .then((report) => sendEvent({ kind: 'done', summary: summaryOf(report) }))
      .catch((error: unknown) => {
        // No result is sent if the outcome is unknown. The browser then refers the operator to the audit log.
        if (!(error instanceof UnknownOutcomeError)) sendEvent(failureOf(signal.aborted ? signal.reason : error, log));
      })
      .finally(async () => {
        removeFromSession();
        progress.stop();
        events.end();
        await removeFolder();
      });
    // Proxies must not buffer the response, because the browser treats a silent connection as dead.
    return reply.type('application/x-ndjson').header('x-accel-buffering', 'no').send(events);
  });
};

/** @throws CoreError `bad_request`. */
function readMap(text: string): ReturnType<typeof readColumnMap> {
  try {
    return readColumnMap(JSON.parse(text) as string[]);
  } catch (error) {
    throw new CoreError(
      'bad_request',
      error instanceof ImportUsageError ? error.message : '`map` must be a JSON array of `field=column` strings.',
    );
  }
}

/** Writes a body to a new file. When the signal is aborted, the rest of the body is not awaited. */
async function saveBody(body: Readable, path: string, signal: AbortSignal): Promise<void> {
  let bytes = 0;
  await pipeline(
    body,
    async function* limited(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > MAX_IMPORT_BYTES) throw new CoreError('body_too_large', IMPORT_TOO_LARGE);
        yield chunk;
      }
    },
    createWriteStream(path, { flags: 'wx', mode: 0o600 }),
    { signal },
  );
}

/**
 * Sends the progress at once and after changes. The latest progress is repeated every `IMPORT_HEARTBEAT_MS`, so the
 * browser can detect a dead connection.
 */
function reportProgress(sendEvent: (event: ImportEvent) => void, monotonicMs: () => number) {
  let latest: ImportEvent = { kind: 'progress', stage: 'check', done: 0 };
  let sentAt = Number.NEGATIVE_INFINITY;
  sendEvent(latest);
  const repeat = setInterval(() => sendEvent(latest), IMPORT_HEARTBEAT_MS);
  return {
    update(stage: 'check' | 'write', done: number) {
      latest = { kind: 'progress', stage, done };
      if (monotonicMs() - sentAt < PROGRESS_INTERVAL_MS) return;
      sentAt = monotonicMs();
      sendEvent(latest);
    },
    stop: () => clearInterval(repeat),
  };
}

function summaryOf({
  auditId,
  created,
  updated,
  unchanged,
  duplicates,
  repeatedIds,
  localPictures,
  ignoredColumns,
  ignoredCounts,
}: ImportReport): ImportSummary {
  return {
    auditId,
    created: created.count,
    updated: updated.count,
    unchanged,
    firstCreated: created.first,
    firstUpdated: updated.first,
    duplicates: duplicates.count,
    repeatedIds: repeatedIds.length,
    firstRepeated: repeatedIds.slice(0, MAX_LISTED),
    localPictures,
    ignoredColumns: [...ignoredColumns, ...ignoredCounts],
  };
}

function failureOf(error: unknown, log: ConsoleOptions['log']): ImportEvent {
  if (error instanceof ImportRefusedError) return { kind: 'errors', errors: [...error.errors], count: error.count };
  if (error instanceof ImportUsageError || error instanceof CoreError)
    return { kind: 'failed', message: error.message };
  log.error({ err: error }, 'An import started in the console failed');
  return {
    kind: 'failed',
    message: 'The import failed with an unexpected error, and nothing was imported. See the log of the site.',
  };
}
