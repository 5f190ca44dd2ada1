import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { ConnectionPool, requestText } from './http-connection.ts';
import { FlowRecorder, sendWhenDue } from './open-flow.ts';
import type { Flow, FlowResult, OpenLoadOptions } from './run-load.ts';

/** Duration of the warm-up. Its requests open the connections and are not measured. */
const WARM_UP_MS = 1_000;

const [options] = (await once(process, 'message')) as [OpenLoadOptions];
const run = randomBytes(8).toString('hex');
const pool = new ConnectionPool(options.address);
const begin = performance.now() + 100;
const results = await Promise.all(
  Object.entries(options.flows).map(async ([name, flow]) => [name, await runFlow(name, flow)] as const),
);
process.send?.(Object.fromEntries(results));
process.disconnect();
pool.close();

async function runFlow(name: string, { targets, perSecond }: Flow): Promise<FlowResult> {
  const recorder = new FlowRecorder();
  const total = Math.round((perSecond * (WARM_UP_MS + options.seconds * 1_000)) / 1_000);
  const requests = Array.from({ length: total }, (_, number) => ({
    number,
    dueAt: begin + (number / perSecond) * 1_000,
  }));
  await sendWhenDue(requests, async ({ number, dueAt }) => {
    const target = targets[number % targets.length];
    if (target === undefined) throw new Error(`The flow ${name} has no targets`);
    const { method, path, body, acceptEncoding } = target;
    const text = requestText(method, path, `session-${run}-${name}-${number.toString(16)}`, body, acceptEncoding);
    const status = await pool.send(text).then(
      (response) => response.status,
      (error: Error) => error.message,
    );
    if (dueAt >= begin + WARM_UP_MS) recorder.record(dueAt, status);
  });
  return recorder.result();
}
