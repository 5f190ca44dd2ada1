import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ConsoleStreams, createConsoleStreams } from './console-streams.ts';

const CHANGE = { productIds: ['git'], catalogue: false };

let streams: ConsoleStreams;
let response: ServerResponse;
let errors: Error[];
let isSignedIn: boolean;

beforeEach(() => {
  isSignedIn = true;
  errors = [];
  streams = createConsoleStreams(async (tokens) => new Set(isSignedIn ? tokens : []));
  // Without a socket, the response behaves like that of a client that does not read: all writes are queued.
  response = new ServerResponse(new IncomingMessage(new Socket()));
  response.on('error', (error) => errors.push(error));
});
afterEach(() => streams.close());

test('nothing is written to an ended stream whose client does not read', async () => {
  streams.add(response, 'token');
  isSignedIn = false;
  await streams.endSignedOut();
  expect(response.writableEnded).toBe(true);
  streams.onChange(CHANGE);
  await nextTurn();
  expect(errors).toEqual([]);
});

test('a stream that opens during a check of the sessions stays open', async () => {
  streams.add(new ServerResponse(new IncomingMessage(new Socket())), 'earlier');
  const checked = streams.endSignedOut();
  streams.add(response, 'token');
  await checked;
  expect(response.writableEnded).toBe(false);
});

test('a client that does not read is disconnected', () => {
  streams.add(response, 'token');
  for (let change = 0; change < 10_000; change += 1) streams.onChange(CHANGE);
  expect(response.destroyed).toBe(true);
  expect(response.writableLength).toBeLessThan(100_000);
});

test('a stream whose client has already disconnected is not added', () => {
  response.destroy();
  const before = response.listenerCount('close');
  streams.add(response, 'token');
  expect(response.listenerCount('close')).toBe(before);
});
