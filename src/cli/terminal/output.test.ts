import { expect, test, vi } from 'vitest';
import { hasColours, oneLine, print, safeJson, safeText } from './output.ts';

const HOSTILE = 'Grüße 🌊\nsecond\u001b[2Jline\u202e\u0000\u009b\u{e0001}';

test('unsafe characters are escaped, and all others stay unchanged', () => {
  expect(oneLine(HOSTILE)).toBe('Grüße 🌊\\nsecond\\u{1b}[2Jline\\u{202e}\\u{0}\\u{9b}\\u{e0001}');
  expect(safeText('one\ntwo\r\t')).toBe('one\ntwo\\u{d}\\u{9}');
});

test('JSON is escaped without changing its value', () => {
  const json = safeJson(JSON.stringify({ text: HOSTILE }));
  expect(json).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(JSON.parse(json)).toEqual({ text: HOSTILE });
});

test.each([
  ['a terminal', { isTTY: true }, '\u001b[1mbold\\u{1b}[31m\u001b[22m plain\\u{1b}[31m\n'],
  ['a file', { isTTY: false }, 'bold\\u{1b}[31m plain\\u{1b}[31m\n'],
])('only a terminal receives styles, and escape sequences in text are escaped: %s', (_, { isTTY }, printed) => {
  const wasTTY = process.stdout.isTTY;
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.stubEnv('NO_COLOR', undefined);
  vi.stubEnv('TERM', 'xterm');
  process.stdout.isTTY = isTTY;
  try {
    print(['bold', 'bold\u001b[31m'], ' plain\u001b[31m');
    expect(`${log.mock.calls.join()}\n`).toBe(printed);
  } finally {
    process.stdout.isTTY = wasTTY;
    vi.unstubAllEnvs();
    log.mockRestore();
  }
});

test('colours are used only on a terminal, and not if NO_COLOR or TERM forbids them', () => {
  expect(hasColours({ isTTY: true }, {})).toBe(true);
  expect(hasColours({ isTTY: false }, {})).toBe(false);
  expect(hasColours({ isTTY: true }, { NO_COLOR: '1' })).toBe(false);
  expect(hasColours({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
});
