import { expect, test } from 'vitest';
import { createTarpit } from './limit-requests.ts';

const isHeld = async (promise: Promise<void>) => {
  let over = false;
  promise.then(() => {
    over = true;
  });
  await new Promise(setImmediate);
  return !over;
};

test('after 300 refusals in a minute, further refusals of a network are delayed, but not those of other networks', async () => {
  let now = 0;
  const tarpit = createTarpit(() => now, 300);
  for (let refusal = 0; refusal < 300; refusal += 1) await tarpit.hold('192.0.2.1');
  const held = tarpit.hold('192.0.2.200');
  expect(await isHeld(held)).toBe(true);
  expect(await isHeld(tarpit.hold('198.51.100.1'))).toBe(false);
  now += 60_000;
  expect(await isHeld(tarpit.hold('192.0.2.1'))).toBe(false);
  await held;
});
