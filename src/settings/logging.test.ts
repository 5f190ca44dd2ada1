import { open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createLog } from './logging.ts';

const path = join(tmpdir(), `groundswell-log-${process.pid}`);
const HOSTILE = 'one\u001b[2J two\u009b31m three\u202e four\\u001b five\r';

afterEach(() => rm(path, { force: true }));

test.each([
  ['JSON', false],
  ['readable', true],
])('the %s log contains no characters that control a terminal', async (_, isTTY) => {
  const file = await open(path, 'w');
  try {
    const stream = Object.assign(file.createWriteStream({ autoClose: false }), { isTTY, fd: file.fd });
    createLog('info', stream as unknown as NodeJS.WriteStream & { fd: number }).info({ text: HOSTILE }, HOSTILE);
    // A worker thread writes the readable log.
    await expect.poll(() => readFile(path, 'utf8')).toContain('five');
    const text = await readFile(path, 'utf8');
    // pino-pretty colours its own output.
    const uncoloured = text.replaceAll(/\p{Cc}\[\d+m/gu, '');
    expect(uncoloured.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    if (!isTTY) expect(JSON.parse(text)).toMatchObject({ msg: HOSTILE, text: HOSTILE });
  } finally {
    await file.close();
  }
});
