import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { expect } from 'vitest';

export interface Frame {
  event: string;
  data: unknown;
  /** The client's last event id after this frame. */
  id: string | undefined;
  /** When the frame arrived, in milliseconds by `performance.now()`. */
  receivedAt: number;
}

export interface EventClient {
  response: IncomingMessage;
  frames: Frame[];
  /** Returns the whole received text. */
  text(): string;
  /** Returns the id that a reconnecting client would send. */
  lastEventId(): string | undefined;
  /** Returns the data of all frames of an event, in order. */
  dataOf<Item>(event: string): Item[];
  /** Waits for the first frame of an event whose data equals the expected value. */
  waitForEvent(event: string, expected: unknown): Promise<Frame>;
  closed: Promise<void>;
  close(): void;
}

const opened = new Set<ClientRequest>();

/** Opens a stream like `EventSource`, on a separate socket. The response may be an error. */
export async function openEvents(url: string, headers: Record<string, string> = {}): Promise<EventClient> {
  const asked = request(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false });
  opened.add(asked);
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const frames: Frame[] = [];
  let text = '';
  let parsedUpTo = 0;
  let id: string | undefined;
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n\n', parsedUpTo); end !== -1; end = text.indexOf('\n\n', parsedUpTo)) {
      read(text.slice(parsedUpTo, end));
      parsedUpTo = end + 2;
    }
  });
  // A stream that the server disconnects emits an error, which is expected.
  response.on('error', () => {});
  const closed = new Promise<void>((resolve) => response.once('close', resolve));

  function read(block: string): void {
    const fields = new Map(
      block.split('\n').map((line) => /^([^:]*):? ?(.*)$/.exec(line)?.slice(1) as [string, string]),
    );
    id = fields.get('id') ?? id;
    const data = fields.get('data');
    const event = fields.get('event') ?? 'message';
    if (data !== undefined) frames.push({ event, data: JSON.parse(data), id, receivedAt: performance.now() });
  }

  return {
    response,
    frames,
    text: () => text,
    lastEventId: () => id,
    dataOf: <Item>(event: string) =>
      frames.filter((frame) => frame.event === event).flatMap(({ data }) => data as Item[]),
    async waitForEvent(event, expected) {
      const matches = (frame: Frame) => {
        try {
          if (frame.event !== event) return false;
          expect(frame.data).toEqual(expected);
          return true;
        } catch {
          return false;
        }
      };
      await expect.poll(() => frames.some(matches), { message: text }).toBe(true);
      return frames.find(matches) as Frame;
    },
    closed,
    close: () => asked.destroy(),
  };
}

/** Closes the remaining streams of a test. */
export function closeEvents(): void {
  for (const each of opened) each.destroy();
  opened.clear();
}
