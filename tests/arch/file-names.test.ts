import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, readText } from './source-files.ts';

/** Names of folders and files that tend to collect unrelated code. */
const CATCH_ALL_NAMES = /(?:^|\/)(?:utils?|helpers?|misc|common|shared)(?:\/|\.)/;

/** For example `list-products.ts`, `search-box.tsx` and `keyset.test.ts`. */
const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z]+)*$/;

const MAX_LINES = 300;

/** A longer file must give the reason in its first lines. */
const REASON = /^(?:.*\n){0,4}(?:\/\/|\/?\*+) Long because \S.{19,}/;

const isTooLong = (text: string) => text.trimEnd().split('\n').length > MAX_LINES && !REASON.test(text);

/** Leftovers of development, and comments that silence checks without a reason on the same line. */
const LEFTOVERS = /\b(?:TODO|FIXME|XXX|HACK)\b|@ts-(?:ignore|nocheck)|\bas any\b/;
const SILENCED_WITHOUT_REASON = /(?:biome-ignore(?! [a-zA-Z0-9/]+: \S.{15,})|@ts-expect-error(?! ?\S.{15,}))/;

const isLeftover = (line: string) => LEFTOVERS.test(line) || SILENCED_WITHOUT_REASON.test(line);
const isCode = (path: string) => /\.(?:[cm]?[jt]sx?|css)$/.test(path);
const sources = await filesBelow('src');
const code = (await filesBelow('src', 'tests', 'scripts', 'bin', 'bench')).filter(isCode);

test('the checks apply to more than 100 source files', () => {
  expect(sources.length).toBeGreaterThan(100);
});

test('files of code are named in kebab-case', () => {
  expect(code.filter((path) => !KEBAB_CASE.test(basename(path)))).toEqual([]);
});

test('no file or folder has a catch-all name', () => {
  expect(code.filter((path) => CATCH_ALL_NAMES.test(path))).toEqual([]);
});

test('no file is named index, and no source file re-exports from another file', async () => {
  expect(code.filter((path) => /^index\.[jt]sx?$/.test(basename(path)))).toEqual([]);
  for (const path of sources.filter((each) => /\.tsx?$/.test(each))) {
    expect(await readText(path), path).not.toMatch(/^export (?:\*|\{[^}]*\}|type \{[^}]*\})(?: as \w+)? from /m);
  }
});

test(`no file of code has more than ${MAX_LINES} lines, unless its first lines give a reason`, async () => {
  const long: string[] = [];
  for (const path of code) if (isTooLong(await readText(path))) long.push(path);
  // Style sheets may be long.
  expect(long.filter((path) => !path.endsWith('.css'))).toEqual([]);
});

test('the check finds files that are too long, and accepts a reason of one sentence in the first lines', () => {
  const lines = (count: number) => 'line\n'.repeat(count);
  expect(isTooLong(lines(MAX_LINES))).toBe(false);
  expect(isTooLong(lines(MAX_LINES + 1))).toBe(true);
  expect(isTooLong(`// Long because it is one table, which nobody would look for in two files.\n${lines(400)}`)).toBe(
    false,
  );
  expect(isTooLong(`// Long because.\n${lines(400)}`)).toBe(true);
  expect(isTooLong(`${lines(20)}// Long because it is one table, which nobody would look for.\n${lines(400)}`)).toBe(
    true,
  );
});

test('the sources contain no TODO comments, no `as any`, and no silenced checks without a reason', async () => {
  const left: string[] = [];
  for (const path of sources.filter(isCode)) {
    const lines = (await readText(path)).split('\n');
    left.push(...lines.filter(isLeftover).map((line) => `${path}: ${line.trim()}`));
  }
  expect(left).toEqual([]);
});

test('the check finds TODO comments, `as any`, and silenced checks without a reason', () => {
  expect(['// TODO: later', 'x as any', '// @ts-ignore', '// biome-ignore lint/a/b: why not'].every(isLeftover)).toBe(
    true,
  );
  expect(isLeftover('// biome-ignore lint/a11y/useX: the dialog closes by Escape as well')).toBe(false);
});
