import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { isOperatorName } from '../../src/contract/console/records.ts';
import { PROBLEM_CODES } from '../../src/contract/problem.ts';
import {
  fieldOf,
  PRODUCT_FIELD_NAMES,
  type ProductFieldKind,
  type ProductFieldName,
} from '../../src/contract/products/fields.ts';
import { formatCount } from '../../src/contract/text.ts';
import { WebhookEventSchema } from '../../src/contract/webhooks/schema.ts';
import type { Operation } from '../../src/server/openapi/parts.ts';
import { SETTINGS } from '../../src/settings/settings.ts';
import { registeredRoutes } from '../support/registered-routes.ts';
import { filesBelow, ROOT, readText } from './source-files.ts';

/** Returns the names that a document does not contain as inline code. */
function missingFrom(document: string, names: readonly string[]): string[] {
  return names.filter((name) => !document.includes(`\`${name}\``));
}

/** Adds a section about an operation to a document, at the end of the chapter that its tag names. */
function withSection(
  document: string,
  route: string,
  { tag, summary, description, problems }: Pick<Operation, 'tag' | 'summary' | 'description' | 'problems'>,
): string {
  const codes = problems.map((code) => `\`${code}\``).join(', ');
  const text = `${summary}.${description ? ` ${description}` : ''} Problems: ${codes}.`;
  const chapter = document.indexOf(`## ${tag}`);
  const next = document.indexOf('\n## ', chapter);
  const end = next === -1 ? document.length : next + 1;
  return `${document.slice(0, end)}### \`${route}\`\n\n${text}\n\n${document.slice(end)}`;
}

describe('the check of documents', () => {
  test('finds names that are missing from a document', () => {
    const document = 'Set `PORT` to a number; HOST is mentioned, but not as code.';
    expect(missingFrom(document, ['PORT', 'HOST', 'MADE_UP'])).toEqual(['HOST', 'MADE_UP']);
  });
});

describe('settings', () => {
  test('the table of docs/configuration.md is generated from the declarations (update it with -u)', async () => {
    const rows = Object.values(SETTINGS).map(
      ({ name, default: value, about }) => `| \`${name}\` | ${value ? `\`${value}\`` : 'none'} | ${about} |`,
    );
    const document = await readText('docs/configuration.md');
    const table = /(?<=^\| Setting \| Default \| Meaning \|\n\|---\|---\|---\|\n)(?:\|.*\n)*/m;
    expect(document).toMatch(table);
    await expect(document.replace(table, () => `${rows.join('\n')}\n`)).toMatchFileSnapshot(
      '../../docs/configuration.md',
    );
  });
});

test('the documented database URL verifies the server, so the driver does not warn', async () => {
  expect((await readText('docs/configuration.md')).match(/sslmode=[\w-]+/g)).toEqual(['sslmode=verify-full']);
});

/** How docs/api.md and docs/importing.md describe values of each kind. By default, both describe a text. */
const VALUES: Partial<Record<ProductFieldKind, { shape?: string; about: string }>> = {
  address: { about: 'a URL' },
  texts: { shape: 'string[]', about: 'a list' },
  addresses: { shape: 'string[]', about: 'a list of URLs' },
  team: { shape: '{ name, avatar, role }[]', about: 'a list of `{ name, role, avatar }`, or of names' },
  time: { about: 'a date' },
};

/** Matches the product shape in docs/api.md. */
const SHAPE = /(?<=^Product {2}\{ ).*?(?= \}$)/ms;

/** Replaces the product shape in a document by the fields and the counts of a product. */
function withShape(document: string): string {
  const fields = PRODUCT_FIELD_NAMES.map((name) => [name, VALUES[fieldOf(name).kind]?.shape ?? []].flat().join(': '));
  const lines = [...fields, 'upvotes', 'comments'].join(', ').match(/\S.{0,83}(?:,|$)/g) ?? [];
  return document.replace(SHAPE, lines.join(`\n${' '.repeat(11)}`));
}

describe('routes', () => {
  test('each route and the product shape are in docs/api.md (add them with -u)', async () => {
    const routes = await registeredRoutes();
    expect([...routes.keys()]).toContain('PUT /api/products/:id/upvote');
    let document = withShape(await readText('docs/api.md'));
    expect(document).toMatch(SHAPE);
    for (const [route, operation] of routes) {
      if (operation && missingFrom(document, [route]).length > 0) document = withSection(document, route, operation);
    }
    await expect(document).toMatchFileSnapshot('../../docs/api.md');
    expect(missingFrom(document, [...routes.keys()])).toEqual([]);
  });

  test('the section of a new operation is added at the end of its chapter', () => {
    const operation = { tag: 'Upvotes', summary: 'Count', problems: ['bad_request', 'unavailable'] } as const;
    const document = withSection('## Upvotes\n\nText.\n\n## Comments\n\nText.\n', 'GET /api/count', operation);
    expect(document).toBe(
      '## Upvotes\n\nText.\n\n### `GET /api/count`\n\nCount. Problems: `bad_request`, `unavailable`.\n\n## Comments\n\nText.\n',
    );
  });

  test('each error code is in docs/api.md', async () => {
    expect(missingFrom(await readText('docs/api.md'), PROBLEM_CODES)).toEqual([]);
  });
});

test('each webhook event is in docs/webhooks.md', async () => {
  const types = WebhookEventSchema.anyOf.map(({ properties }) => properties.type.const);
  expect(types).toContain('product.launched');
  expect(missingFrom(await readText('docs/webhooks.md'), types)).toEqual([]);
});

/** Returns a row of the table in docs/importing.md. */
function fieldRow(name: ProductFieldName): string {
  const { kind, default: value, maxItems, maxCharacters } = fieldOf(name);
  const maximum = maxItems ?? `${formatCount(maxCharacters)} characters`;
  return `| \`${name}\` | ${VALUES[kind]?.about ?? 'text'} | ${maximum} | ${value ? `\`${value}\`` : 'none'} |\n`;
}

describe('the fields of a product', () => {
  test('are the rows of the table in docs/importing.md (add rows for new fields with -u)', async () => {
    const document = await readText('docs/importing.md');
    const [, table = ''] = /^\| Field .*\n.*\n((?:\|.*\n)*)/m.exec(document) ?? [];
    const cells = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = '']) => cell.split(', '));
    const documented = cells.map((cell) => cell.replaceAll('`', ''));
    const added = PRODUCT_FIELD_NAMES.filter((name) => !documented.includes(name));
    expect([...documented, ...added].sort()).toEqual([...PRODUCT_FIELD_NAMES].sort());
    await expect(document.replace(table, () => table + added.map(fieldRow).join(''))).toMatchFileSnapshot(
      '../../docs/importing.md',
    );
  });

  test('are the columns of the view in row-level-security.sql (update it with -u)', async () => {
    const columns = PRODUCT_FIELD_NAMES.map((name) => fieldOf(name).column).join(', ');
    const statements = await readText('deploy/row-level-security.sql');
    const list = /(?<=^CREATE VIEW rest\.products .*\n {2}SELECT ).*/m;
    expect(statements).toMatch(list);
    await expect(statements.replace(list, columns)).toMatchFileSnapshot('../../deploy/row-level-security.sql');
  });
});

describe("the operator's command", () => {
  const commands = executablesOf(buildProgram());

  test('the table of docs/operations.md is generated from the commands (update it with -u)', async () => {
    const rows = buildProgram().commands.map((each) => `| \`${each.name()}\` | ${each.description()} |`);
    expect(rows).toContain('| `serve` | run the site until it is stopped (Ctrl-C or SIGTERM) |');
    const document = await readText('docs/operations.md');
    const table = /(?<=^\| Command \| What it does \|\n\|---\|---\|\n)(?:\|.*\n)*/m;
    expect(document).toMatch(table);
    await expect(document.replace(table, () => `${rows.join('\n')}\n`)).toMatchFileSnapshot('../../docs/operations.md');
  });

  test('operator names in documented invitations are valid', async () => {
    const texts = await Promise.all((await allDocuments()).map(readText));
    const names = texts.flatMap((text) => [...text.matchAll(/console invite ([^\s`]+)/g)].map(([, name = '']) => name));
    expect(names).toContain('ada');
    expect(names.filter((name) => !isOperatorName(name))).toEqual([]);
  });

  test('the help describes every option and argument', () => {
    expect(commands.filter(({ descriptions }) => descriptions.includes('')).map(({ name }) => name)).toEqual([]);
  });
});

describe('links', () => {
  test('each link in a document to another file resolves', async () => {
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

  test('each file of the project that a document names exists', async () => {
    const missing: string[] = [];
    for (const document of await allDocuments()) {
      for (const name of filesNamedIn(await readText(document))) {
        if (!existsSync(join(ROOT, name))) missing.push(`${document}: ${name}`);
      }
    }
    expect(missing).toEqual([]);
  });

  test('the check finds file names and ignores patterns', () => {
    expect(
      filesNamedIn('`src/core/keyset.ts`, `src/**/*.test.ts`, `src/contract/<noun>/schema.ts` and `dist/x.js`'),
    ).toEqual(['src/core/keyset.ts']);
  });
});

/** Returns the paths of all documents of the project. */
async function allDocuments(): Promise<string[]> {
  const top = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
  const below = await filesBelow('docs', 'tests', 'examples', 'bench', 'deploy', 'catalogue', 'scripts');
  return [...top, ...below.filter((path) => path.endsWith('.md'))];
}

/** Returns the repository paths that a document has in backticks, except those with placeholders. */
function filesNamedIn(document: string): string[] {
  const named = [
    ...document.matchAll(/`((?:src|tests|scripts|migrations|deploy|docs|bench|public|catalogue)\/[\w./-]+)`/g),
  ];
  return named.map((match) => match[1] ?? '');
}

/** Returns the targets of links and pictures that are in the same repository. */
function linksOf(document: string): string[] {
  const targets = [...document.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
    (match) => match[1] ?? match[2],
  );
  return targets.filter((target) => target !== undefined).filter((target) => !/^[a-z]+:/.test(target));
}

/** Returns the anchors of the headings. */
function anchorsOf(document: string): string[] {
  const headings = [...document.matchAll(/^#+ (.+)$/gm)].map((match) => match[1] ?? '');
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

interface DescribedCommand {
  name: string;
  /** The descriptions of its options and arguments. */
  descriptions: string[];
}

/**
 * Returns the executable commands with their full names. A command with subcommands is executable only if it has
 * options.
 */
function executablesOf(command: Command, parents: readonly string[] = []): DescribedCommand[] {
  const names = [...parents, command.name()];
  const { commands, options, registeredArguments } = command;
  const own = {
    name: names.join(' '),
    descriptions: [...options, ...registeredArguments].map((each) => each.description),
  };
  const isExecutable = commands.length === 0 || (parents.length > 0 && options.length > 0);
  return [...(isExecutable ? [own] : []), ...commands.flatMap((each) => executablesOf(each, names))];
}
