import { anySignal } from '../../../contract/any-signal.ts';
import { LIVE_HEARTBEAT_S } from '../../../contract/live/events.ts';

/** A server that sends nothing for two heartbeat intervals is considered unreachable. */
const SILENCE_TIMEOUT_MS = 2 * LIVE_HEARTBEAT_S * 1_000;

export interface ServerEvent {
  event: string;
  data: string;
}

interface EventHandlers {
  /** Called when the first bytes arrive, which shows that no proxy buffers them. */
  onOpen(): void;
  onEvent(event: ServerEvent): void;
  /** Called with an event id, which is a server time (ms). All changes up to it were received. */
  onId(id: string): void;
}

/** How a stream ended. */
export interface StreamEnd {
  /** The HTTP status, or 0 if there was no response or the stream was interrupted. */
  status: number;
  /** The delay that the server requests before the next attempt. */
  waitMs: number | undefined;
}

/**
 * Reads an event stream to its end. Uses `fetch`, because `EventSource` hides the status of a refusal, its
 * `Retry-After`, and dead connections.
 */
export async function readEvents(address: string, handlers: EventHandlers, signal: AbortSignal): Promise<StreamEnd> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_TIMEOUT_MS);
  let waitMs: number | undefined;
  try {
    const response = await fetch(address, {
      headers: { Accept: 'text/event-stream' },
      cache: 'no-store',
      signal: anySignal(signal, silence.signal),
    });
    if (response.status !== 200 || !response.body) {
      await response.body?.cancel();
      return { status: response.status, waitMs: retryAfterMs(response) };
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    let isOpen = false;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { status: 200, waitMs };
      if (!isOpen) handlers.onOpen();
      isOpen = true;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_TIMEOUT_MS);
      text += value;
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        waitMs = dispatch(text.slice(0, end), handlers) ?? waitMs;
        text = text.slice(end + 2);
      }
    }
  } catch {
    return { status: 0, waitMs };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Parses one event and passes it to the handlers. The server ends each line with a line feed and writes data on one
 * line. Returns the `retry` delay in milliseconds, if any.
 */
function dispatch(block: string, { onEvent, onId }: EventHandlers): number | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name) fields.set(name, value);
  }
  const data = fields.get('data');
  const id = fields.get('id');
  if (data !== undefined) onEvent({ event: fields.get('event') ?? 'message', data });
  if (id !== undefined) onId(id);
  const retryMs = Number(fields.get('retry'));
  return retryMs > 0 ? retryMs : undefined;
}

function retryAfterMs({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('Retry-After'));
  return seconds > 0 ? seconds * 1_000 : undefined;
}
