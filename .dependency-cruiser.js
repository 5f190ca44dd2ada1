/** The import rules of ARCHITECTURE.md. `tests/arch` shows that a violation of each is caught. */

const OURS = '^src/';
const TEST_FILE = '\\.(?:test|fixture)\\.tsx?$';

/** A room may import itself and those named; everything else of ours is forbidden. */
const room = (name, allowed, { comment, except = [] }) => ({
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
      comment: 'Two files that need each other are one thing, or hide a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolved',
      comment: 'Every import must lead somewhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    room('contract', [], { comment: 'The contract is the ground of both sides and rests on neither.' }),
    room('core', ['contract/'], { comment: 'The product knows no HTTP, no React and no command line.' }),
    room('settings', ['contract/'], { comment: 'Settings are read before anything else exists.' }),
    room('server', ['core/', 'contract/', 'settings/', 'web/entry-server\\.tsx$'], {
      comment: 'The server sees of the browser side only how to render it.',
    }),
    room('cli', ['core/', 'contract/', 'settings/'], {
      comment:
        'Commands work on the product itself; only `serve` starts the server, and `report-failure` knows how it fails.',
      except: ['^src/cli/(?:commands/serve|report-failure)\\.ts$'],
    }),
    room('web', ['contract/'], { comment: 'What runs in the browser shares with the server the contract alone.' }),
    room('console', ['contract/', 'web/ui/'], {
      comment: "The console shares the site's look, and no state or code that visitors load for other ends.",
    }),
    {
      name: 'console-apart',
      comment: 'Visitors load nothing of the console.',
      severity: 'error',
      from: { path: '^src/web/' },
      to: { path: '^src/console/' },
    },
    {
      name: 'only-pages-render',
      comment: 'One place turns an address into a document; development does it through Vite.',
      severity: 'error',
      from: { path: '^src/server/', pathNot: ['^src/server/pages/', '^src/server/dev\\.ts$'] },
      to: { path: '^src/web/' },
    },
    {
      name: 'card-renderer-stands-alone',
      comment: 'The card renderer could be a package: it draws what it is given and knows nothing of the site.',
      severity: 'error',
      from: { path: '^src/server/cards/renderer/', pathNot: TEST_FILE },
      to: { path: OURS, pathNot: '^src/server/(?:cards/renderer|task-process)/' },
    },
    {
      name: 'embedded-database-stands-alone',
      comment:
        'The embedded database could be a package: it runs PostgreSQL in a folder and knows nothing of the site.',
      severity: 'error',
      from: { path: '^src/core/database/embedded/', pathNot: TEST_FILE },
      to: { path: OURS, pathNot: '^src/core/(?:database/embedded/|runtime\\.ts$|file-system\\.ts$)' },
    },
    {
      name: 'embedded-database-by-its-interface',
      comment: 'Others open the embedded database and read its errors; how it runs PostgreSQL is its own business.',
      severity: 'error',
      from: { path: OURS, pathNot: [TEST_FILE, '^src/core/database/embedded/'] },
      to: {
        path: '^src/core/database/embedded/',
        pathNot: '^src/core/database/embedded/(?:open-embedded|embedded-database-error)\\.ts$',
      },
    },
    {
      name: 'no-validator-in-the-browser',
      comment: 'Schemas are types to the web: importing one as a value would bring TypeBox into the bundle.',
      severity: 'error',
      from: { path: '^src/(?:web|console)/', pathNot: TEST_FILE },
      to: {
        path: ['^src/contract/[a-z]+/schema\\.ts$', '^src/contract/problem\\.ts$', 'node_modules/typebox/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'no-node-in-the-browser',
      comment: 'A browser has no node: modules.',
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
      comment: 'Routes stand on features, features on the folders that all share.',
      severity: 'error',
      from: { path: '^src/web/features/' },
      to: { path: '^src/web/routes/' },
    },
    {
      name: 'foundations-at-the-bottom',
      comment: 'Routes stand on features, features on the folders that all share.',
      severity: 'error',
      from: { path: '^src/web/(?:ui|api|cache|language|routing|storage)/' },
      to: { path: '^src/web/(?:features|routes)/' },
    },
    {
      name: 'no-development-packages',
      comment: 'What is served or run must not rest on a package that only development installs.',
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
