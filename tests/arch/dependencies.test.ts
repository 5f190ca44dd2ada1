import { expect, test } from 'vitest';
import { filesBelow, readText } from './source-files.ts';

interface Package {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** Returns the packages in the first column of the tables, where they are in backticks. Headings have no backticks. */
function listed(document: string): string[] {
  const cells = [...document.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => cell.split(', ')).map((name) => name.replaceAll('`', ''));
}

/** Returns the packages whose names no text contains in quotes, alone or followed by a path. */
function unused(names: readonly string[], texts: readonly string[]): string[] {
  return names.filter(
    (name) =>
      !texts.some((text) => [`'${name}'`, `'${name}/`, `"${name}`, `\`${name}/`].some((use) => text.includes(use))),
  );
}

const { dependencies, devDependencies }: Package = JSON.parse(await readText('package.json'));
const names = Object.keys({ ...dependencies, ...devDependencies });
const document = await readText('docs/dependencies.md');

/** Licences compatible with MIT, and MPL-2.0 for `axe-core`, which only tests use and which is not distributed. */
const LICENCES = new Set(['MIT', 'Apache-2.0', 'MIT OR Apache-2.0', 'BlueOak-1.0.0', 'MPL-2.0']);

/** Packages that are used without an import, each with the command or option that uses it. */
const USED_OTHERWISE = new Map([
  ['@biomejs/biome', 'biome check'],
  ['@vitest/coverage-v8', 'coverage'],
  ['typescript-native', 'node_modules/typescript-native/bin/tsc'],
]);

test('docs/dependencies.md lists exactly the dependencies, except types', () => {
  expect(listed(document).sort()).toEqual(names.filter((name) => !name.startsWith('@types/')).sort());
});

test('each dependency has a licence that is compatible with MIT', async () => {
  const { packages }: { packages: Record<string, { license?: string }> } = JSON.parse(
    await readText('package-lock.json'),
  );
  const licences = names.map((name) => packages[`node_modules/${name}`]?.license ?? `none of ${name}`);
  expect(licences.filter((licence) => !LICENCES.has(licence))).toEqual([]);
});

test('each package with an install script is explicitly allowed or forbidden to run it, so npm ci prints no warning', async () => {
  const { packages }: { packages: Record<string, { hasInstallScript?: true }> } = JSON.parse(
    await readText('package-lock.json'),
  );
  const scripted = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript);
  expect(scripted).toContain('node_modules/esbuild');
  const { allowScripts }: { allowScripts: Record<string, boolean> } = JSON.parse(await readText('package.json'));
  const undecided = scripted.filter((path) => !(path.replace(/^.*node_modules\//, '') in allowScripts));
  expect(undecided).toEqual([]);
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

test('the checks find unused and listed packages', () => {
  expect(unused(['used', 'also', 'idle'], ["import 'used';", "import x from 'also/deep';"])).toEqual(['idle']);
  expect(listed('| Package | Why |\n|---|---|\n| `one`, `two` | Both |\n')).toEqual(['one', 'two']);
});
