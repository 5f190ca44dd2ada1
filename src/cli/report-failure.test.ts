import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CoreError } from '../core/core-error.ts';
import { ConnectError } from '../core/database/connect.ts';
import { UnknownOutcomeError } from '../core/database/database-errors.ts';
import { EmbeddedDatabaseError } from '../core/database/embedded/embedded-database-error.ts';
import { UsageError } from './arguments.ts';
import { reportFailure } from './report-failure.ts';

beforeEach(() => vi.stubEnv('LOG_LEVEL', undefined));
afterEach(() => vi.unstubAllEnvs());

function report(error: unknown): { code: number; printed: string } {
  const write = vi.spyOn(console, 'error').mockImplementation(() => {});
  try {
    return { code: reportFailure(error), printed: write.mock.calls.join('\n') };
  } finally {
    write.mockRestore();
  }
}

test.each([
  [new UsageError('name a file'), 2],
  [new EmbeddedDatabaseError('data_dir_refused', 'DATA_DIR is a file'), 2],
  [new EmbeddedDatabaseError('start_failed', 'PostgreSQL did not start'), 1],
  [new CoreError('bad_cursor', 'This cursor does not belong to this list'), 2],
  [new CoreError('product_invalid', 'createdAt: not a time'), 2],
  [new CoreError('unavailable', 'The database is unavailable'), 1],
  [new ConnectError('cannot reach the database'), 1],
  [new Error('unexpected'), 1],
])('after %s, the command exits with code %i', (error, code) => {
  expect(report(error)).toEqual({ code, printed: `groundswell: ${error.message}` });
});

test.each([
  ['ENOSPC', expect.stringMatching(/is full\. Free some space, then run the command again\.$/)],
  ['53100', "The database's disk is full. Free some space, then run the command again."],
  ['28P01', expect.stringContaining('rejected the password')],
  ['25006', expect.stringContaining('is read-only')],
  ['57014', 'The database cannot be reached, try again'],
])('an error caused by %s is printed as the advice for this code, or unchanged if there is none', (code, message) => {
  const cause = Object.assign(new Error('could not extend file'), { code });
  const error = new Error('The database cannot be reached, try again', { cause });
  const { code: exitCode, printed } = report(error);
  expect(exitCode).toBe(1);
  expect(printed.replace('groundswell: ', '')).toEqual(message);
});

test('after a commit that the database did not confirm, the command does not advise to try again', () => {
  const cause = Object.assign(new Error('terminating connection'), { code: '57P03' });
  const error = new UnknownOutcomeError('unavailable', 'Please try again in a moment.', { cause });
  const { code, printed } = report(error);
  expect(code).toBe(1);
  expect(printed).toMatch(/did not confirm the change, .* See `groundswell log` before you run the command again\.$/);
});

test.each(['debug', ' DEBUG ', 'trace'])(
  'with LOG_LEVEL=%j, an unexpected error is printed with its stack trace',
  (level) => {
    vi.stubEnv('LOG_LEVEL', level);
    expect(report(new Error('unexpected')).printed).toMatch(/^groundswell: unexpected\nError: unexpected\n +at /);
  },
);

test('an escape sequence in a message is escaped', () => {
  expect(report(new Error('\u001b[2J\u009b')).printed).toBe('groundswell: \\u{1b}[2J\\u{9b}');
});
