import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { ImportEvent } from '../../../contract/console/records.ts';
import { withQuery } from '../../../contract/paths/api.ts';
import { askBeforeUnload, ConsoleError, errorOf } from '../../api/console-api.ts';
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

/**
 * Uploads the file and reports the progress. Unless it is a dry run, the browser asks for confirmation before the page
 * is closed during the upload.
 * @throws ConsoleError if the server refuses it, or the connection is lost; Error if the file has changed since it was
 * chosen; the reason of `signal` if it aborts.
 */
export async function runImport(chosen: ChosenFile, options: Options): Promise<ImportResult> {
  const stopAsking = askBeforeUnload(() => !options.dryRun);
  try {
    return await upload(chosen, options);
  } catch (error) {
    // Browsers report a lost connection as a TypeError. Its message differs by browser.
    if (!(error instanceof TypeError)) throw error;
    throw connectionLost(error);
  } finally {
    stopAsking();
  }
}

function connectionLost(cause?: Error): ConsoleError {
  const message = 'The connection was lost. Completed imports are in the audit log.';
  return new ConsoleError(0, 'network', message, [], undefined, { cause });
}

async function upload({ file, kind, columns }: ChosenFile, options: Options): Promise<ImportResult> {
  const { choice, slugifyIds, dryRun, signal, onProgress } = options;
  await requireUnchanged(file);
  const query = { name: file.name, kind, map: JSON.stringify(mapTexts(choice, columns)), slugifyIds, dryRun };
  const response = await fetch(withQuery(CONSOLE_API.import, query), {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream' },
    body: file,
    ...(signal && { signal }),
  });
  if (!response.ok) throw await errorOf(response);
  if (!response.body) throw connectionLost();
  for await (const event of eventsOf(response.body)) {
    if (event.kind !== 'progress') return event;
    onProgress(event);
  }
  throw connectionLost();
}

/** @throws Error if the file has changed or is gone. The upload would report this as a lost connection. */
async function requireUnchanged(file: File): Promise<void> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch (cause) {
    throw new Error('The file has changed since it was chosen. Choose it again.', { cause });
  }
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
