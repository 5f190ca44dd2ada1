import { expect, test } from 'vitest';
import { oneLine } from './one-line.ts';

test('what would act on a terminal is spelled out, the rest stays', () => {
  expect(oneLine('Grüße 🌊\nsecond\u001b[2Jline\u202e\u0000\u009b')).toBe(
    'Grüße 🌊\\nsecond\\u{1b}[2Jline\\u{202e}\\u{0}\\u{9b}',
  );
});
