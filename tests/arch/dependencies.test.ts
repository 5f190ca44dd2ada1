import { expect, test } from 'vitest';
import { filesBelow, readText } from './source-files.ts';

interface Package {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** `| name | licence |` of every row; headings have no backticks. */
function listed(document: string): Map<string, string> {
  return new Map(
    [...document.matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)].map(([, name = '', licence = '']) => [name, licence]),
  );
}

/** Names that no file has in quotes, alone or with a path. */
function unused(names: readonly string[], texts: readonly string[]): string[] {
  return names.filter(
    (name) =>
      !texts.some((text) => [`'${name}'`, `'${name}/`, `"${name}`, `\`${name}/`].some((use) => text.includes(use))),
  );
}

const { dependencies, devDependencies }: Package = JSON.parse(await readText('package.json'));
const names = Object.keys({ ...dependencies, ...devDependencies });
const document = await readText('docs/dependencies.md');

/** Used without an import: types, and packages named in commands or options. */
const USED_OTHERWISE = new Map([
  ['@biomejs/biome', 'biome check'],
  ['@vitest/coverage-v8', 'coverage'],
  ['typescript-native', 'node_modules/typescript-native/bin/tsc'],
]);

test('docs/dependencies.md lists exactly the dependencies', () => {
  expect([...listed(document).keys()].sort()).toEqual([...names].sort());
});

test('the licence of each dependency matches docs/dependencies.md', async () => {
  const { packages }: { packages: Record<string, { license?: string }> } = JSON.parse(
    await readText('package-lock.json'),
  );
  const wrong = [...listed(document)].filter(
    ([name, licence]) => packages[`node_modules/${name}`]?.license !== licence,
  );
  expect(wrong).toEqual([]);
});

test('every dependency is used', async () => {
  const code = (await filesBelow('src', 'tests', 'bench', 'scripts', 'bin', 'examples')).filter((path) =>
    /\.[cm]?[jt]sx?$/.test(path),
  );
  const settings = ['vite.config.ts', 'vitest.config.ts', 'playwright.config.ts'];
  const texts = await Promise.all([...code, ...settings].map(readText));
  const typesOf = (name: string) => (name.startsWith('@types/') ? name.slice('@types/'.length) : undefined);
  const idle = unused(names, texts).filter((name) => {
    const subject = typesOf(name);
    return subject === undefined ? !USED_OTHERWISE.has(name) : subject !== 'node' && !names.includes(subject);
  });
  expect(idle).toEqual([]);
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(await readText('package.json'));
  for (const [name, use] of USED_OTHERWISE)
    expect([...Object.values(scripts), ...texts].join('\n'), name).toContain(use);
});

test('unused and unlisted packages are found', () => {
  expect(unused(['used', 'also', 'idle'], ["import 'used';", "import x from 'also/deep';"])).toEqual(['idle']);
  expect([...listed('| Package | Licence |\n|---|---|\n| `one` | MIT | 1 KB |\n')]).toEqual([['one', 'MIT']]);
});
