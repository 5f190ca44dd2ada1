import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Listener } from '../database/listen.ts';
import { ChangeNotify } from './change-publisher.ts';

let database: TestDatabase;
let opened: ChangeNotify[] = [];
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const notify of opened) await notify.stop();
  opened = [];
  await database.drop();
});

/** Opens a process, and records the senders of the notifications that it receives and of those that it acts on. */
function open() {
  const process = { id: '', received: [] as string[], actedOn: [] as string[], send: () => notify.send() };
  const recording = {
    ...database,
    query(text: string, values: readonly unknown[] = []) {
      process.id = String(values[1]);
      return database.query<never>(text, values);
    },
    listen: (channel: string, { onListening, onNotification }: Listener) =>
      database.listen(channel, {
        onListening,
        onNotification(sender) {
          process.received.push(sender);
          onNotification(sender);
        },
      }),
  };
  const notify = new ChangeNotify(recording, silentLog, () => process.actedOn.push(process.received.at(-1) ?? ''));
  opened.push(notify);
  return process;
}

const LISTENERS = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'`;

test('other processes act on a notification, but its sender does not, even after the connections were lost', async () => {
  const sender = open();
  const other = open();
  const expectDelivery = async () => {
    await expect
      .poll(() => {
        sender.send();
        return other.actedOn.includes(sender.id) && sender.received.includes(sender.id);
      })
      .toBe(true);
    expect(sender.actedOn).not.toContain(sender.id);
  };
  await expectDelivery();
  const lost = await database.query<{ pid: number }>(LISTENERS);
  expect(lost).toHaveLength(2);
  await database.query(`SELECT pg_terminate_backend(pid) FROM (${LISTENERS}) AS listeners`);
  const reconnected = async () => {
    const all = await database.query<{ pid: number }>(LISTENERS);
    return all.filter(({ pid }) => !lost.some((old) => old.pid === pid)).length;
  };
  await expect.poll(reconnected).toBe(2);
  for (const names of [other.actedOn, sender.received]) names.length = 0;
  await expectDelivery();
});

describe('without notifications', () => {
  const PROBE_TIMEOUT_MS = 10_000;
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => vi.useRealTimers());

  /** Connects to a database that delivers no notifications, and waits until the timeout of the probe has started. */
  async function connect() {
    let listener: Listener | undefined;
    const pause = vi.fn();
    const query = vi.fn(async (_text: string, _values: readonly unknown[] = []) => []);
    const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const silent = {
      ...database,
      query,
      listen(_channel: string, passed: Listener) {
        listener = passed;
        return { pause, stop: async () => {} };
      },
    };
    const notify = new ChangeNotify(silent, log, () => {});
    let lose = () => {};
    listener?.onListening(new Promise((resolve) => (lose = resolve)));
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    return { notify, listener, lose, query, pause, log };
  }

  test('a connection that receives no notifications is closed, and no further notifications are sent', async () => {
    const { notify, query, pause, log } = await connect();
    expect(query).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(PROBE_TIMEOUT_MS);
    await expect.poll(() => pause.mock.calls.length).toBe(1);
    notify.send();
    expect(query).toHaveBeenCalledTimes(1);
    expect(log.warn).not.toHaveBeenCalled();
  });

  test('a connection that was lost before the notification arrived is not treated as one without notifications', async () => {
    const { lose, pause, log } = await connect();
    lose();
    await expect.poll(() => vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(PROBE_TIMEOUT_MS);
    await new Promise(setImmediate);
    expect(pause).not.toHaveBeenCalled();
    expect(log.info).not.toHaveBeenCalled();
  });

  test('a connection whose notification arrived while this process was blocked stays open', async () => {
    const { notify, listener, query, pause } = await connect();
    const [, sender] = query.mock.calls[0]?.[1] ?? [];
    vi.advanceTimersByTime(PROBE_TIMEOUT_MS);
    listener?.onNotification(String(sender));
    await new Promise(setImmediate);
    expect(pause).not.toHaveBeenCalled();
    notify.send();
    expect(query).toHaveBeenCalledTimes(2);
  });
});
