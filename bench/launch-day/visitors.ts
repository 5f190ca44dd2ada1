import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ConnectionPool, type HttpResponse, requestText } from '../harness/http-connection.ts';
import { FlowRecorder, sendWhenDue } from '../harness/open-flow.ts';
import type { FlowResult } from '../harness/run-load.ts';
import type { Acknowledged, VisitorLoad, VisitorReport } from './run-visitors.ts';
import { type Action, planVisits, type Step } from './visits.ts';

/**
 * Number of networks that visitors come from. Requests share pooled connections, as behind a reverse proxy, and send
 * the visitor's address as `X-Forwarded-For`. Each stream has its own connection.
 */
const NETWORKS = 4_096;

interface Visitor {
  session: string;
  /** Header fields of all requests of this visitor. */
  fields: { 'X-Forwarded-For': string; Cookie?: string };
  stream?: Socket;
  hasLeft: boolean;
}

const [load] = (await once(process, 'message')) as [VisitorLoad];
const run = randomBytes(8).toString('hex');
const pool = new ConnectionPool(load.address);
const visitors = new Map<number, Visitor>();
const actions = new Map<string, FlowRecorder>();
/** Latencies of all page requests, by the phase in which the visitor arrived. */
const pages = new Map<string, FlowRecorder>();
const acknowledged: Acknowledged = { upvotes: [], commentIds: [] };
let streamsOpen = 0;
let maxStreams = 0;
let brokenStreams = 0;

const steps = planVisits(load.phases, load.catalogue, load.seed);
const begin = performance.now() + 500;
const measuredFrom = begin + (load.warmUpSeconds ?? 0) * 1_000;
await sendWhenDue(
  steps.map((step) => ({ ...step, dueAt: begin + step.dueMs })),
  ({ dueAt, ...step }) => act(step, dueAt),
);
for (const { stream } of visitors.values()) stream?.destroy();
const count = new Set(steps.map(({ visitor }) => visitor)).size;
const report: VisitorReport = {
  visitors: count,
  actions: resultsOf(actions),
  pages: resultsOf(pages),
  maxStreams,
  brokenStreams,
  acknowledged,
};
process.send?.(report, () => process.disconnect());
pool.close();

async function act(step: Step, dueAt: number): Promise<void> {
  const visitor = visitors.get(step.visitor) ?? newVisitor(step.visitor);
  if (step.action === 'leave') {
    visitors.delete(step.visitor);
    visitor.hasLeft = true;
    if (visitor.stream !== undefined) streamsOpen -= 1;
    visitor.stream?.destroy();
    return;
  }
  const { action } = step;
  const sent = action === 'stream' ? openStream(visitor, step) : send(visitor, step, action);
  const status = await sent.catch((error: Error) => error.message);
  if (dueAt < measuredFrom) return;
  recorderOf(actions, action).record(dueAt, status);
  if (action.endsWith(' page')) recorderOf(pages, step.phase).record(dueAt, status);
}

function recorderOf(recorders: Map<string, FlowRecorder>, name: string): FlowRecorder {
  const recorder = recorders.get(name) ?? new FlowRecorder();
  recorders.set(name, recorder);
  return recorder;
}

function resultsOf(recorders: ReadonlyMap<string, FlowRecorder>): Record<string, FlowResult> {
  return Object.fromEntries([...recorders].map(([name, recorder]) => [name, recorder.result()]));
}

function newVisitor(number: number): Visitor {
  const network = (number * 7_919) % NETWORKS;
  const address = `10.${network >> 8}.${network & 255}.${1 + (number % 250)}`;
  const visitor: Visitor = {
    session: `session-${run}-${number}`,
    fields: { 'X-Forwarded-For': address },
    hasLeft: false,
  };
  visitors.set(number, visitor);
  return visitor;
}

async function send(visitor: Visitor, step: Step, action: Exclude<Action, 'stream'>): Promise<number> {
  const { method, path, body } = requestOf(step, action);
  const response = await pool.send(requestText(method, path, visitor.session, body, 'br', visitor.fields));
  // Like a browser, the visitor sends the last cookie back, so later pages show the visitor's own writes.
  const cookie = /\r\nset-cookie: (last_write_[^;]+)/i.exec(response.head)?.[1];
  if (cookie !== undefined) visitor.fields.Cookie = cookie;
  acknowledge(visitor, step, response);
  return response.status;
}

interface VisitorRequest {
  method: string;
  path: string;
  body?: string;
}

function requestOf({ productId, text }: Step, action: Exclude<Action, 'stream'>): VisitorRequest {
  const id = encodeURIComponent(productId);
  switch (action) {
    case 'home page':
      return { method: 'GET', path: '/' };
    case 'product page':
      return { method: 'GET', path: `/product/${id}` };
    case 'search':
      return { method: 'GET', path: `/api/products?q=${encodeURIComponent(text)}` };
    case 'own upvotes':
      return { method: 'GET', path: `/api/upvotes?products=${shownProducts(productId)}` };
    case 'upvote':
      return { method: 'PUT', path: `/api/products/${id}/upvote` };
    case 'comment':
      return { method: 'POST', path: '/api/comments', body: JSON.stringify({ productId, content: text }) };
  }
}

/**
 * Returns the products that a page shows: the first 20 launches of the day if it is the home page (no id), otherwise
 * the product.
 */
function shownProducts(productId: string): string {
  const shown = productId === '' ? load.catalogue.launches.slice(0, 20) : [productId];
  return shown.map(encodeURIComponent).join(',');
}

function acknowledge({ session }: Visitor, { action, productId }: Step, { status, body }: HttpResponse): void {
  if (status >= 300) return;
  if (action === 'upvote') acknowledged.upvotes.push({ productId, session });
  if (action === 'comment') acknowledged.commentIds.push(JSON.parse(body).comment.id);
}

/** Opens a stream, which stays open until the visitor leaves. @returns the status when the first bytes have arrived. */
function openStream(visitor: Visitor, { productId }: Step): Promise<number> {
  const { hostname, port } = new URL(load.address);
  const path = `/api/events?products=${shownProducts(productId)}`;
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(requestText('GET', path, visitor.session, undefined, 'identity', visitor.fields));
    socket.on('error', reject);
    socket.once('data', (head: Buffer) => {
      const status = Number(head.toString('latin1', 9, 12));
      if (status === 200 && !visitor.hasLeft) {
        visitor.stream = socket;
        streamsOpen += 1;
        maxStreams = Math.max(maxStreams, streamsOpen);
        socket.resume();
      } else socket.destroy();
      resolve(status);
    });
    // The visitor destroys the socket when leaving, so `end` means that the server closed the stream.
    socket.on('end', () => (brokenStreams += 1));
  });
}
