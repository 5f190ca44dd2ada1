import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { expect, test } from 'vitest';
import rules from '../../.dependency-cruiser.js';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Small source trees (contents by path), each of which violates one rule. The actual sources are checked by
 * `npm run check:imports`, a step of `npm test`.
 */
const VIOLATIONS: Record<string, Record<string, string>> = {
  'no-cycles': {
    'src/core/a.ts': "import { b } from './b.ts'; export const a = () => b;",
    'src/core/b.ts': "import { a } from './a.ts'; export const b = () => a;",
  },
  'no-unresolved': { 'src/core/a.ts': "import { b } from './gone.ts'; export const a = b;" },
  'contract-imports': importing('src/contract/a.ts', 'src/core/b.ts'),
  'core-imports': importing('src/core/a.ts', 'src/server/b.ts'),
  'settings-imports': importing('src/settings/a.ts', 'src/core/b.ts'),
  'server-imports': importing('src/server/pages/a.ts', 'src/web/cache/b.ts'),
  'cli-imports': importing('src/cli/commands/a.ts', 'src/server/b.ts'),
  'web-imports': importing('src/web/cache/a.ts', 'src/core/b.ts'),
  'console-imports': importing('src/console/a.ts', 'src/web/cache/b.ts'),
  'console-apart': importing('src/web/ui/a.ts', 'src/console/b.ts'),
  'only-pages-render': importing('src/server/routes/a.ts', 'src/web/entry-server.tsx'),
  'card-renderer-stands-alone': importing('src/server/cards/renderer/a.ts', 'src/core/b.ts'),
  'embedded-database-stands-alone': importing('src/core/database/embedded/a.ts', 'src/core/b.ts'),
  'embedded-database-by-its-interface': importing('src/core/a.ts', 'src/core/database/embedded/b.ts'),
  'no-validator-in-the-browser': importing('src/web/cache/a.ts', 'src/contract/products/schema.ts'),
  'no-node-in-the-browser': { 'src/web/cache/a.ts': "import { join } from 'node:path'; export const a = join;" },
  'no-feature-imports-another': importing('src/web/features/comments/a.ts', 'src/web/features/upvotes/b.ts'),
  'features-below-routes': importing('src/web/features/comments/a.ts', 'src/web/routes/home/b.ts'),
  'foundations-at-the-bottom': importing('src/web/ui/a.ts', 'src/web/features/comments/b.ts'),
  'console-foundations-at-the-bottom': importing('src/console/api/a.ts', 'src/console/screens/queue/b.ts'),
  'console-screens-below-shell': importing('src/console/screens/queue/a.ts', 'src/console/shell/b.ts'),
  'server-http-at-the-bottom': importing('src/server/http/a.ts', 'src/server/routes/b.ts'),
  'no-development-packages': { 'src/core/a.ts': "import { test } from 'vitest'; export const a = test;" },
};

function importing(from: string, to: string): Record<string, string> {
  const depth = dirname(from).split('/').length;
  return {
    [from]: `import { b } from '${'../'.repeat(depth)}${to}'; export const a = b;`,
    [to]: 'export const b = 1;',
  };
}

async function brokenRules(folder: string): Promise<string[]> {
  const tsConfig = extractTSConfig(join(ROOT, 'tsconfig.json'));
  const { output } = await cruise(
    ['src'],
    {
      ...rules.options,
      baseDir: folder,
      tsConfig: {},
      ruleSet: { forbidden: rules.forbidden },
      validate: true,
    } as never,
    {},
    { tsConfig },
  );
  return (output as ICruiseResult).summary.violations.map(({ rule }) => rule.name);
}

test('every import rule has an example of a violation', () => {
  expect(Object.keys(VIOLATIONS).sort()).toEqual(rules.forbidden.map(({ name }: { name: string }) => name).sort());
});

for (const [rule, files] of Object.entries(VIOLATIONS)) {
  test(`a violation of ${rule} is detected`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'groundswell-imports-'));
    try {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), content);
      }
      await writeFile(
        join(folder, 'package.json'),
        JSON.stringify({ type: 'module', devDependencies: { vitest: '*' } }),
      );
      await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
      expect(await brokenRules(folder)).toContain(rule);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}
