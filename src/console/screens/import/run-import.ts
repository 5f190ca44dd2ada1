import { anySignal } from '../../../contract/any-signal.ts';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import { IMPORT_HEARTBEAT_MS, IMPORT_TIMEOUT_MS, type ImportEvent } from '../../../contract/console/records.ts';
import { withQuery } from '../../../contract/paths/api.ts';
import { askBeforeUnload, ConsoleError, errorOf, operatorHeader } from '../../api/console-api.ts';
import { type ColumnChoice, mapTexts } from './columns.tsx';
import type { ChosenFile } from './read-file.ts';

type Progress = Extract<ImportEvent, { kind: 'progress' }>;
export type ImportResult = Exclude<ImportEvent, Progress>;

interface Options {
  choice: ColumnChoice;
  slugifyIds: boolean;
  dryRun: boolean;
  signal?: AbortSignal;
  onProgress: (progress: Progress) => void;
}

/** A connection on which no line arrives for this long is considered lost. */
const SILENCE_TIMEOUT_MS = 4 * IMPORT_HEARTBEAT_MS;

/**
 * Uploads the file and reports the progress. Until an import ends, the browser asks for confirmation before the page is
 * closed; a dry run does not ask.
 * @throws ConsoleError if the server rejects the request or the connection is lost; Error if the file has changed since
 * it was chosen; the reason of `signal` if it aborts.
 */
export async function runImport(chosen: ChosenFile, options: Options): Promise<ImportResult> {
  const stopAsking = askBeforeUnload(() => !options.dryRun);
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expectLine = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), ms);
  };
  try {
    return await upload(chosen, { ...options, signal: anySignal(options.signal, silence.signal) }, expectLine);
  } catch (error) {
    // Browsers report a lost connection as a TypeError. Its message differs by browser.
    if (!(error instanceof TypeError) && (!silence.signal.aborted || options.signal?.aborted)) throw error;
    throw connectionLost(error);
  } finally {
    clearTimeout(timer);
    stopAsking();
  }
}

function connectionLost(cause?: unknown): ConsoleError {
  const message = 'The connection was lost. Completed imports are in the audit log.';
  return new ConsoleError(0, 'network', message, [], undefined, { cause });
}

async function upload(
  { file, kind, columns }: ChosenFile,
  { choice, slugifyIds, dryRun, signal, onProgress }: Options & { signal: AbortSignal },
  expectLine: (ms: number) => void,
): Promise<ImportResult> {
  await requireUnchanged(file);
  const query = { name: file.name, kind, map: JSON.stringify(mapTexts(choice, columns)), slugifyIds, dryRun };
  // The response begins after the upload, whose progress `fetch` does not report.
  expectLine(IMPORT_TIMEOUT_MS);
  const response = await fetch(withQuery(CONSOLE_API.import, query), {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream', ...operatorHeader() },
    body: file,
    signal,
  });
  if (!response.ok) throw await errorOf(response);
  if (!response.body) throw connectionLost();
  for await (const event of eventsOf(response.body)) {
    if (event.kind !== 'progress') return event;
    expectLine(SILENCE_TIMEOUT_MS);
    onProgress(event);
  }
  throw connectionLost();
}

/**
 * Checks that the file still has the same size. Otherwise, the upload would fail with a misleading error: an invalid
 * request in Firefox, which sends the old size, or a lost connection in other browsers.
 * @throws Error if the file has changed or is gone.
 */
async function requireUnchanged(file: File): Promise<void> {
  const size = await file.arrayBuffer().then(
    ({ byteLength }) => byteLength,
    () => undefined,
  );
  if (size !== file.size) throw new Error('The file has changed since it was chosen. Choose it again.');
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ImportEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let pending = '';
  for (;;) {
    const { done, value } = await reader.read();
    pending += value ?? '';
    const lines = pending.split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as ImportEvent;
    if (done) return;
  }
}
