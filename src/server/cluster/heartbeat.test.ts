import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Heartbeat, watchHeartbeats } from './heartbeat.ts';

interface Peer {
  name: string;
  responds: boolean;
}

let peers: Peer[];
let lost: string[];
let asked: number;
let isTraced: boolean;
let duringLookup: () => void;
let heartbeat: Heartbeat<Peer>;

beforeEach(() => {
  vi.useFakeTimers();
  peers = [
    { name: 'one', responds: true },
    { name: 'two', responds: true },
  ];
  lost = [];
  asked = 0;
  isTraced = false;
  duringLookup = () => {};
  heartbeat = watchHeartbeats<Peer>({
    processes: () => peers,
    sendPing(peer) {
      asked += 1;
      if (peer.responds) heartbeat.recordPong(peer, false);
    },
    async isDebuggerAttached() {
      duringLookup();
      return isTraced;
    },
    onLost: ({ name }, silentS) => lost.push(`${name} ${silentS}`),
  });
});

afterEach(() => {
  heartbeat.stop();
  vi.useRealTimers();
});

const beats = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);
const silence = (index: number) => {
  const peer = peers[index];
  if (peer) peer.responds = false;
  return peer as Peer;
};

test('a worker that misses twenty checks is reported lost once, and one that responds is not reported', async () => {
  await beats(100);
  expect(lost).toEqual([]);
  const silent = silence(1);
  await beats(20);
  expect(lost).toEqual([]);
  await beats(1);
  expect(lost).toEqual(['two 20']);
  peers = peers.filter((peer) => peer !== silent);
  await beats(100);
  expect(lost).toEqual(['two 20']);
});

test('a worker whose response is late is not reported lost', async () => {
  const slow = silence(0);
  await beats(20);
  heartbeat.recordPong(slow, false);
  await beats(20);
  heartbeat.recordPong(slow, false);
  expect(lost).toEqual([]);
});

test('no worker is reported lost if the machine sleeps or all processes are paused', async () => {
  silence(0);
  await beats(2);
  // The clock advances by an hour, and this process checks once.
  vi.setSystemTime(Date.now() + 3_600_000);
  await beats(1);
  expect(lost).toEqual([]);
});

test('a process that is debugged or traced is not reported lost', async () => {
  heartbeat.recordPong(silence(0), true);
  silence(1);
  isTraced = true;
  await beats(500);
  expect(lost).toEqual([]);
  isTraced = false;
  await beats(21);
  expect(lost).toEqual(['two 20']);
});

test('a traced worker that responds while the tracer is looked up is checked again, and not reported lost', async () => {
  const traced = silence(0);
  isTraced = true;
  duringLookup = () => heartbeat.recordPong(traced, false);
  await beats(21);
  traced.responds = true;
  isTraced = false;
  duringLookup = () => {};
  await beats(100);
  expect(lost).toEqual([]);
});

test('a worker gets no further checks until it responds', async () => {
  silence(0);
  isTraced = true;
  peers = peers.slice(0, 1);
  await beats(100);
  expect(asked).toBe(1);
});
