import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface CountStream {
  /** Waits until this upvote count of a product, or a higher one, has arrived. @returns the time of its arrival. */
  waitForUpvotes(productId: string, upvotes: number, timeoutMs: number): Promise<number>;
  close(): void;
}

/** Opens the stream of all counts and records when each count arrives. */
export async function listenToCounts(address: string): Promise<CountStream> {
  const { hostname, port } = new URL(address);
  const socket = connect({ host: hostname, port: Number(port) }).setEncoding('latin1');
  const received = new Map<string, { upvotes: number; at: number }[]>();
  let rest = '';
  socket.on('data', (text: unknown) => {
    const at = performance.now();
    const blocks = (rest + String(text)).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      if (!block.startsWith('event: counts\n')) continue;
      const counts = JSON.parse(/\ndata: (.*)/.exec(block)?.[1] ?? '[]') as { id: string; upvotes: number }[];
      for (const { id, upvotes } of counts) received.set(id, [...(received.get(id) ?? []), { upvotes, at }]);
    }
  });
  socket.write('GET /api/events HTTP/1.1\r\nHost: bench\r\n\r\n');
  await once(socket, 'data');
  return {
    async waitForUpvotes(productId, upvotes, timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const found = received.get(productId)?.find((each) => each.upvotes >= upvotes);
        if (found !== undefined) return found.at;
        if (performance.now() > deadline)
          throw new Error(`The stream did not show ${upvotes} upvotes of ${productId} in time`);
        await sleep(1);
      }
    },
    close: () => socket.destroy(),
  };
}
