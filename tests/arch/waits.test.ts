import ts from 'typescript';
import { expect, test } from 'vitest';
import { filesBelow, readText } from './source-files.ts';

/** Long enough that no wait fails only because the machine is busy. The default of `expect.poll`. */
const MIN_TIMEOUT_MS = 60_000;
/** The default timeouts of the functions that wait for a condition. */
const DEFAULTS_MS: Record<string, number> = { 'expect.poll': 60_000, 'vi.waitFor': 1_000, 'vi.waitUntil': 1_000 };

/** Returns the calls that wait for a condition, but not long enough. */
function shortWaits(text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const defaultMs = DEFAULTS_MS[node.expression.getText().replaceAll(/\s/g, '')];
      if (defaultMs !== undefined && (timeoutOf(node.arguments[1]) ?? defaultMs) < MIN_TIMEOUT_MS)
        found.push(node.getText());
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('a.tsx', text, ts.ScriptTarget.Latest, true));
  return found;
}

/** Returns the timeout of a call's last argument, which is a number or an object of options. */
function timeoutOf(options: ts.Expression | undefined): number | undefined {
  const number = /^(?:\{.*\btimeout: )?([\d_]+)/s.exec(options?.getText() ?? '')?.[1];
  return number === undefined ? undefined : Number(number.replaceAll('_', ''));
}

test('every wait for a condition lasts as long as a busy machine may need', async () => {
  const files = (await filesBelow('src', 'tests')).filter((path) => /\.tsx?$/.test(path));
  for (const path of files) {
    const text = await readText(path);
    // Parsing takes time, and only these files can contain a short wait.
    if (/vi\.wait|timeout: /.test(text)) expect(shortWaits(text), path).toEqual([]);
  }
});

test('the check finds waits with a short timeout or a short default', () => {
  const short = [
    'expect.poll(read, { timeout: 10_000 })',
    'expect\n  .poll(read, {\n  interval: 5,\n  timeout: 500 })',
    'vi.waitFor(() => { read(); })',
    'vi.waitUntil(read, 30_000)',
    'vi.waitUntil(read, { interval: 1 })',
  ];
  expect(shortWaits(short.join(';\n'))).toEqual(short);
  const long = ['expect.poll(read)', 'expect.poll(read, { interval: 5 })', 'vi.waitFor(read, 60_000)'];
  expect(shortWaits(long.join(';\n'))).toEqual([]);
});
