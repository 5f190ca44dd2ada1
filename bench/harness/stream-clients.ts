import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection, requestText } from './http-connection.ts';
import type { StreamLoad, StreamReport } from './run-streams.ts';
import { latenciesOf } from './statistics.ts';

/** Number of connections that upvote. This process also reads the streams, so all times come from one clock. */
const WRITERS = 16;

/** Number of sockets to open at the same time. */
const OPENING = 200;

/** An event of a subscription, and its time of arrival on each stream. */
interface FrameRecord {
  text: string;
  counts: { id: string; upvotes: number }[];
  arrivals: number[];
}

interface Group {
  productIds: readonly string[] | null;
  size: number;
  frames: FrameRecord[];
}

const [load] = (await once(process, 'message')) as [StreamLoad];
const groups: Group[] = load.subscriptions.map((productIds) => ({ productIds, size: 0, frames: [] }));
const sockets = await openAll();
let closed = 0;
for (const socket of sockets) socket.on('close', () => (closed += 1));
process.send?.('open');
await once(process, 'message');
const votes = await vote();
// Gives late frames time to arrive.
await sleep(2_000);
process.send?.(report(votes));
process.disconnect();
for (const socket of sockets) socket.destroy();

async function openAll(): Promise<Socket[]> {
  const opened: Socket[] = [];
  for (let from = 0; from < load.streams; from += OPENING) {
    const many = Math.min(OPENING, load.streams - from);
    opened.push(...(await Promise.all(Array.from({ length: many }, (_, index) => open(from + index)))));
  }
  return opened;
}

async function open(index: number): Promise<Socket> {
  const group = groups[index % groups.length];
  if (group === undefined) throw new Error('A stream client needs at least one group of products');
  group.size += 1;
  const { hostname, port } = new URL(load.address);
  const socket = connect({ host: hostname, port: Number(port) }).setEncoding('latin1');
  const query = group.productIds === null ? '' : `?products=${group.productIds.join(',')}`;
  socket.write(`GET /api/events${query} HTTP/1.1\r\nHost: bench\r\n\r\n`);
  let rest = '';
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('data', (text: unknown) => {
      rest += text;
      if (!rest.endsWith('\n\n')) return;
      if (rest.startsWith('HTTP/1.1 200')) resolve();
      else if (rest.startsWith('HTTP/')) reject(new Error(`The site refused a stream: ${rest.slice(0, 40)}`));
      // Several frames may have arrived together, with heartbeats between them.
      for (const block of rest.split('\n\n')) if (block.startsWith('event: counts\n')) recordFrame(group, block);
      rest = '';
    });
  });
  return socket;
}

/** Records a frame. All streams of a group receive the same bytes, so each frame is parsed only once. */
function recordFrame(group: Group, text: string): void {
  let frame = group.frames.findLast((each, index) => each.text === text || index < group.frames.length - 3);
  if (frame?.text !== text) {
    const counts = JSON.parse(/\ndata: (.*)\n/.exec(text)?.[1] ?? '[]') as FrameRecord['counts'];
    frame = { text, counts, arrivals: [] };
    group.frames.push(frame);
    const older = group.frames.at(-4);
    if (older !== undefined) older.text = '';
  }
  frame.arrivals.push(performance.now());
}

/**
 * Sends upvotes at an even rate.
 * @returns the times of the requests by product. The index of a time is the count after the upvote.
 */
async function vote(): Promise<Map<string, number[]>> {
  const { upvotesPerSecond, seconds, products } = load;
  const sentAt = new Map<string, number[]>();
  const run = randomBytes(8).toString('hex');
  const total = upvotesPerSecond * seconds;
  const begin = performance.now();
  let next = 0;
  const work = async (): Promise<void> => {
    const connection = new HttpConnection(load.address);
    while (next < total) {
      const number = next;
      next += 1;
      await sleep(Math.max(0, begin + (number / upvotesPerSecond) * 1_000 - performance.now()));
      const id = `p-${(number * 7) % products}`;
      const sent = performance.now();
      const { status, body } = await connection.send(
        requestText('PUT', `/api/products/${id}/upvote`, `session-${run}-${number}`),
      );
      if (status !== 200) throw new Error(`An upvote got the status ${status}`);
      const ofProduct = sentAt.get(id) ?? [];
      ofProduct[(JSON.parse(body) as { upvotes: number }).upvotes] = sent;
      sentAt.set(id, ofProduct);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: WRITERS }, work));
  return sentAt;
}

/**
 * Computes the latencies of all upvotes on all subscribed streams, from the request to the first frame with the upvote.
 */
function report(sentAt: ReadonlyMap<string, number[]>): StreamReport {
  const latencies: number[] = [];
  const finalCounts: StreamReport['finalCounts'] = [];
  let expected = 0;
  for (const { productIds, size, frames } of groups) {
    const known = new Map<string, number>();
    for (const { counts, arrivals } of frames) {
      for (const { id, upvotes } of counts) {
        const sent = (sentAt.get(id) ?? []).slice((known.get(id) ?? 0) + 1, upvotes + 1);
        known.set(id, Math.max(upvotes, known.get(id) ?? 0));
        for (const at of sent) for (const arrival of arrivals) latencies.push(arrival - at);
      }
    }
    const wanted = productIds ?? [...sentAt.keys()];
    expected += size * wanted.reduce((sum, id) => sum + Math.max(0, (sentAt.get(id)?.length ?? 1) - 1), 0);
    finalCounts.push(Object.fromEntries(known));
  }
  return { deliveries: latencies.length, expected, closed, latency: latenciesOf(latencies), finalCounts };
}
