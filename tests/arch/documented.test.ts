import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { PROBLEM_CODES } from '../../src/contract/problem.ts';
import type { Core } from '../../src/core/core.ts';
import { buildApp } from '../../src/server/app.ts';
import type { AnswerCache } from '../../src/server/cache/answer-cache.ts';
import type { Live } from '../../src/server/live/live.ts';
import type { PageRenderer } from '../../src/server/pages/renderer.ts';
import { PACKAGE_FOLDERS } from '../../src/settings/package-root.ts';
import { SETTING_NAMES } from '../../src/settings/settings.ts';
import { silentLog } from '../support/silent-log.ts';
import { filesBelow, ROOT, readText } from './source-files.ts';

/** Those of the names that a document does not give as code, alone between backticks. */
function missingFrom(document: string, names: readonly string[]): string[] {
  return names.filter((name) => !document.includes(`\`${name}\``));
}

/** What stands under a heading, up to the next one of its level or above; empty where there is no such heading. */
function sectionOf(document: string, heading: string): string {
  const lines = document.split('\n');
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replaceAll('`', '').endsWith(` ${heading}`));
  if (start === -1) return '';
  const level = lines[start]?.indexOf(' ') ?? 0;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => new RegExp(`^#{1,${level}} `).test(line));
  return rest.slice(0, end === -1 ? undefined : end).join('\n');
}

describe('the check itself', () => {
  test('finds what a document leaves out', () => {
    const document = 'Set `PORT` to a number; HOST is mentioned, but not as code.';
    expect(missingFrom(document, ['PORT', 'HOST', 'MADE_UP'])).toEqual(['HOST', 'MADE_UP']);
  });

  test('looks at one section at a time', () => {
    const document = '## Commands\n### `site load`\n`--json`\n### `site drop`\n`--yes`\n## Codes\n`2`\n';
    expect(sectionOf(document, 'site load')).toBe('`--json`');
    expect(sectionOf(document, 'site burn')).toBe('');
  });
});

describe('settings', () => {
  test('each is in docs/configuration.md', async () => {
    expect(missingFrom(await readText('docs/configuration.md'), SETTING_NAMES)).toEqual([]);
  });
});

describe('routes', () => {
  const routes: string[] = [];
  let close = async () => {};

  beforeAll(async () => {
    // Routes are only registered here, never called.
    const app = await buildApp({
      core: {} as Core,
      cache: {} as AnswerCache,
      live: { close() {} } as Live,
      renderer: {} as PageRenderer,
      folders: { clientDir: PACKAGE_FOLDERS.client, picturesDir: PACKAGE_FOLDERS.pictures },
      log: silentLog,
      prepare: async (target) => {
        target.addHook('onRoute', ({ method, url }) => {
          // HEAD comes with every GET.
          for (const name of [method].flat()) if (name !== 'HEAD') routes.push(`${name} ${url}`);
        });
      },
    });
    await app.ready();
    close = () => app.close();
  });

  afterAll(() => close());

  test('each is in docs/api.md', async () => {
    expect(routes).toContain('PUT /api/products/:id/upvote');
    expect(missingFrom(await readText('docs/api.md'), routes)).toEqual([]);
  });

  test('each code of an error is in docs/api.md', async () => {
    expect(missingFrom(await readText('docs/api.md'), PROBLEM_CODES)).toEqual([]);
  });
});

describe("the operator's command", () => {
  const commands = leavesOf(buildProgram());

  test('each command has a section in docs/operations.md', async () => {
    const document = await readText('docs/operations.md');
    expect(commands.map(({ name }) => name)).toContain('groundswell serve');
    expect(commands.map(({ name }) => name).filter((name) => sectionOf(document, name).trim() === '')).toEqual([]);
  });

  for (const { name, flags } of commands) {
    test(`each flag of ${name} is in its section`, async () => {
      expect(missingFrom(sectionOf(await readText('docs/operations.md'), name), flags)).toEqual([]);
    });
  }
});

describe('links', () => {
  test('each link of a document to another file leads somewhere', async () => {
    const broken: string[] = [];
    for (const document of await allDocuments()) {
      for (const target of linksOf(await readText(document))) {
        const [path = '', heading] = target.split('#');
        const file = path === '' ? document : join(dirname(document), path);
        const isThere = existsSync(join(ROOT, file));
        if (!isThere || (heading && !anchorsOf(await readText(file)).includes(heading))) {
          broken.push(`${document}: ${target}`);
        }
      }
    }
    expect(broken).toEqual([]);
  });

  test('each file of ours that a document names is there', async () => {
    const missing: string[] = [];
    for (const document of await allDocuments()) {
      for (const name of filesNamedIn(await readText(document))) {
        if (!existsSync(join(ROOT, name))) missing.push(`${document}: ${name}`);
      }
    }
    expect(missing).toEqual([]);
  });

  test('a file that is not there is found, and a pattern is none', () => {
    expect(
      filesNamedIn('`src/core/keyset.ts`, `src/**/*.test.ts`, `src/contract/<noun>/schema.ts` and `dist/x.js`'),
    ).toEqual(['src/core/keyset.ts']);
  });
});

/** Every document for people, from the root and from the folders beside the sources. */
async function allDocuments(): Promise<string[]> {
  const top = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
  const below = await filesBelow('docs', 'tests', 'examples', 'bench', 'deploy', 'catalogue', 'scripts');
  return [...top, ...below.filter((path) => path.endsWith('.md'))];
}

/** Paths from the root that stand as code; one with a placeholder in it is none. */
function filesNamedIn(document: string): string[] {
  const named = [
    ...document.matchAll(/`((?:src|tests|scripts|migrations|deploy|docs|bench|public|catalogue)\/[\w./-]+)`/g),
  ];
  return named.map((match) => match[1] ?? '');
}

/** Targets in the same repository, of links and pictures. */
function linksOf(document: string): string[] {
  const targets = [...document.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
    (match) => match[1] ?? match[2],
  );
  return targets.filter((target) => target !== undefined).filter((target) => !/^[a-z]+:/.test(target));
}

/** The names that headings have in addresses. */
function anchorsOf(document: string): string[] {
  const headings = [...document.matchAll(/^#+ (.+)$/gm)].map((match) => match[1] ?? '');
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** The commands that do something, with their whole names and their flags. */
function leavesOf(command: Command, parents: readonly string[] = []): { name: string; flags: string[] }[] {
  const names = [...parents, command.name()];
  if (command.commands.length > 0) return command.commands.flatMap((each) => leavesOf(each, names));
  const options = command.options.map((option) => option.long ?? option.flags);
  return [{ name: names.join(' '), flags: [...options, ...command.registeredArguments.map((each) => each.name())] }];
}
