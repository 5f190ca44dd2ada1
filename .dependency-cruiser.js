/** The import rules of ARCHITECTURE.md. A test in `tests/arch` checks that each rule reports a violation. */

const OURS = '^src/';
const TEST_FILE = '\\.test\\.tsx?$';

/** Creates a rule: a layer may import itself and the layers in `allowed`, and none of our other code. */
const layer = (name, allowed, { comment, except = [] }) => ({
  name: `${name}-imports`,
  comment,
  severity: 'error',
  from: { path: `^src/${name}/`, pathNot: [TEST_FILE, ...except] },
  to: { path: [OURS, '^(?:tests|bench|scripts)/'], pathNot: [name, ...allowed].map((each) => `^src/${each}`) },
});

export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Files that import each other belong together, or share something that a third file could hold.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolved',
      comment: 'Every import must resolve to a file or a package.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    layer('contract', [], { comment: 'Browser and server both import the contract, so it imports neither.' }),
    layer('core', ['contract/'], { comment: 'Operations do not depend on HTTP, React or the command line.' }),
    layer('settings', ['contract/'], { comment: 'Settings are read first, before the code of other layers runs.' }),
    layer('server', ['core/', 'contract/', 'settings/', 'web/entry-server\\.tsx$'], {
      comment: 'The server imports only one file of the browser app: the one that renders pages.',
    }),
    layer('cli', ['core/', 'contract/', 'settings/'], {
      comment:
        'Commands call `core` directly. Only `serve` starts the server, and `report-failure` handles its errors.',
      except: ['^src/cli/(?:commands/serve|report-failure)\\.ts$'],
    }),
    layer('web', ['contract/'], { comment: 'The browser app shares only the contract with the server.' }),
    layer('console', ['contract/', 'web/ui/', 'web/features/live/event-stream\\.ts$'], {
      comment: 'The console shares components and the stream reader with the browser app, but none of its state.',
    }),
    {
      name: 'console-apart',
      comment: 'Visitors load no code of the console.',
      severity: 'error',
      from: { path: '^src/web/' },
      to: { path: '^src/console/' },
    },
    {
      name: 'only-pages-render',
      comment: 'Only `server/pages` renders documents; `server/dev.ts` renders them through Vite.',
      severity: 'error',
      from: { path: '^src/server/', pathNot: ['^src/server/pages/', '^src/server/dev\\.ts$'] },
      to: { path: '^src/web/' },
    },
    {
      name: 'card-renderer-stands-alone',
      comment: 'The card renderer could be a package: it draws its input and does not depend on the site.',
      severity: 'error',
      from: { path: '^src/server/cards/renderer/', pathNot: TEST_FILE },
      to: { path: OURS, pathNot: '^src/server/(?:cards/renderer|task-process)/' },
    },
    {
      name: 'embedded-database-stands-alone',
      comment:
        'The embedded database could be a package: it runs PostgreSQL in a folder and does not depend on the site.',
      severity: 'error',
      from: { path: '^src/core/database/embedded/', pathNot: TEST_FILE },
      to: { path: OURS, pathNot: '^src/core/(?:database/embedded/|runtime\\.ts$|file-system\\.ts$)' },
    },
    {
      name: 'embedded-database-by-its-interface',
      comment:
        'Other code opens the embedded database and handles its errors, and does not depend on how it runs PostgreSQL.',
      severity: 'error',
      from: { path: OURS, pathNot: [TEST_FILE, '^src/core/database/embedded/'] },
      to: {
        path: '^src/core/database/embedded/',
        pathNot: '^src/core/database/embedded/(?:open-embedded|embedded-database-error)\\.ts$',
      },
    },
    {
      name: 'no-validator-in-the-browser',
      comment: 'Browser code uses schemas only as types: importing a value would add TypeBox to the bundle.',
      severity: 'error',
      from: { path: '^src/(?:web|console)/', pathNot: TEST_FILE },
      to: {
        path: [
          '^src/contract/[a-z]+/schema\\.ts$',
          '^src/contract/(?:problem|page-query)\\.ts$',
          'node_modules/typebox/',
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'no-node-in-the-browser',
      comment: 'Browsers have no node: modules.',
      severity: 'error',
      from: { path: '^src/(?:web|console)/', pathNot: TEST_FILE },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'no-feature-imports-another',
      comment: 'Only routes compose features.',
      severity: 'error',
      from: { path: '^src/web/features/([^/]+)/' },
      to: { path: '^src/web/features/', pathNot: '^src/web/features/$1/' },
    },
    {
      name: 'features-below-routes',
      comment: 'Routes import features, and features import the shared folders, never the other way round.',
      severity: 'error',
      from: { path: '^src/web/features/' },
      to: { path: '^src/web/routes/' },
    },
    {
      name: 'foundations-at-the-bottom',
      comment: 'Routes import features, and features import the shared folders, never the other way round.',
      severity: 'error',
      from: { path: '^src/web/(?:ui|api|cache|language|routing|storage)/' },
      to: { path: '^src/web/(?:features|routes)/' },
    },
    {
      name: 'console-foundations-at-the-bottom',
      comment: 'The shell imports screens, and screens import `api` and `ui`, never the other way round.',
      severity: 'error',
      from: { path: '^src/console/(?:api|ui)/' },
      to: { path: '^src/console/(?:screens|shell)/' },
    },
    {
      name: 'console-screens-below-shell',
      comment: 'The shell imports screens, and screens import `api` and `ui`, never the other way round.',
      severity: 'error',
      from: { path: '^src/console/screens/' },
      to: { path: '^src/console/shell/' },
    },
    {
      name: 'server-http-at-the-bottom',
      comment: 'The code for all responses does not depend on a route, a page or any other part of the server.',
      severity: 'error',
      from: { path: '^src/server/http/', pathNot: TEST_FILE },
      to: { path: '^src/server/', pathNot: '^src/server/http/' },
    },
    {
      name: 'no-development-packages',
      comment: 'Production code must not import packages that are installed only for development.',
      severity: 'error',
      from: { path: OURS, pathNot: [TEST_FILE, '^src/server/dev\\.ts$'] },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
