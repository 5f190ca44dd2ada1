import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UNPRIVILEGED } from '../support/command.ts';
import { nodeForAll } from '../support/installed-command.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);
/** No process has this id: it is greater than the greatest one of Linux, 4,194,304. */
const UNUSED_PID = 5_000_000;
let checkout: string;

/** Creates a checkout that was built from other sources. Its command only prints which build it belongs to. */
beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'checkout-'));
  for (const part of ['bin', 'scripts']) await cp(join(ROOT, part), join(checkout, part), { recursive: true });
  await add('package.json', '{ "type": "module" }');
  await add('src/main.ts', '');
  await add('node_modules/.package-lock.json', '{}');
  await add('dist/stamp', 'older sources');
  await add('dist/server/cli.js', "console.log('older build')");
});

afterEach(async () => {
  await chmod(checkout, 0o755);
  await rm(checkout, { recursive: true });
});

async function add(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(checkout, path)), { recursive: true });
  await writeFile(join(checkout, path), text);
}

/** Adds a stub of Vite that writes a minimal command and, unless timings are off, prints the advice of a slow build. */
async function addVite(): Promise<void> {
  await add('node_modules/vite/package.json', '{ "type": "module", "exports": "./index.js" }');
  await add(
    'node_modules/vite/index.js',
    `import { mkdir, writeFile } from 'node:fs/promises';
    export async function build({ build: { outDir, rolldownOptions } }) {
      if (rolldownOptions?.checks?.bundlerTimings !== false) console.warn('[PLUGIN_TIMINGS] JavaScript callbacks ran for 2.4s');
      await mkdir(outDir + '/assets', { recursive: true });
      await writeFile(outDir + '/assets/app-new.js', '');
      await writeFile(outDir + '/cli.js', "console.log('new build')");
    }`,
  );
}

/** Runs the command as an account that cannot write to the checkout. */
async function runReadOnly(): Promise<{ stdout: string; stderr: string }> {
  await chmod(checkout, 0o555);
  return run(nodeForAll(), [join(checkout, 'bin/groundswell.js')], { ...UNPRIVILEGED });
}

/** Runs the command with a Node.js process that claims to have another version. */
function runAs(version: string): Promise<{ stdout: string; stderr: string }> {
  const code = `for (const [name, value] of Object.entries({ version: 'v${version}', versions: { ...process.versions, node: '${version}' } }))
    Object.defineProperty(process, name, { value });`;
  const appearance = `data:text/javascript,${encodeURIComponent(code)}`;
  return run(process.execPath, ['--import', appearance, join(checkout, 'bin/groundswell.js')]);
}

test.each(['20.18.3', '21.7.3', '22.11.0'])('Node.js %s, which cannot build the site, is rejected', async (version) => {
  await expect(runAs(version)).rejects.toMatchObject({
    code: 2,
    stderr: `groundswell: Node.js ${version} is not supported. Install Node.js 20.19+ or 22.12+.\n`,
  });
});

test('the required versions of Node.js are those that Vite supports', async () => {
  const enginesOf = async (path: string) => JSON.parse(await readFile(join(ROOT, path), 'utf8')).engines;
  expect(await enginesOf('package.json')).toEqual(await enginesOf('node_modules/vite/package.json'));
  for (const version of ['20.19.0', '22.12.0', '23.0.0'])
    expect(await runAs(version)).toMatchObject({ stdout: 'older build\n' });
});

test('a slow build prints no advice about profiling, and does not become stale with another version of Node.js', async () => {
  await addVite();
  expect(await runAs('22.12.0')).toEqual({ stdout: 'new build\n', stderr: 'Building the site …\n' });
  expect(await runAs('99.0.0')).toMatchObject({ stderr: '' });
});

test('a deployment without development packages starts with its existing build, although its sources have changed', async () => {
  const { stdout, stderr } = await runReadOnly();
  expect(stdout).toBe('older build\n');
  expect(stderr).toBe(
    'Using an older build of the site, because vite is not installed. Run npm ci --include=dev && npm run build to update it.\n',
  );
});

test('a deployment in a read-only folder starts with its existing build', async () => {
  await addVite();
  const { stdout, stderr } = await runReadOnly();
  expect(stdout).toBe('older build\n');
  expect(stderr).toContain('is not writable');
});

test('a deployment that has no build and cannot build the site exits with advice', async () => {
  await rm(join(checkout, 'dist'), { recursive: true });
  const failure = (obstacle: string) => ({
    code: 2,
    stderr: `groundswell: the site is not built, and ${obstacle}. Run npm ci --include=dev && npm run build.\n`,
  });
  await expect(runReadOnly()).rejects.toMatchObject(failure('vite is not installed'));
  await chmod(checkout, 0o755);
  await addVite();
  await expect(runReadOnly()).rejects.toMatchObject(failure(`${checkout} is not writable`));
});

test('the site can be built from any working directory, and its pages share a chunk of common code', async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', BUILD_CONFIGURATION], {
    cwd: tmpdir(),
  });
  const languages = await readdir(join(ROOT, 'src/web/language/catalogues'));
  expect(JSON.parse(stdout)).toEqual({
    inputs: ['app', 'head', ...languages.map((file) => `language-${basename(file, '.ts')}`)],
    chunk: 'shared',
  });
});

/** Prints the entries of the browser build, and the chunk of a module that the app's entry imports. */
const BUILD_CONFIGURATION = `
  import { loadConfigFromFile } from ${JSON.stringify(import.meta.resolve('vite'))};
  const root = ${JSON.stringify(ROOT)};
  const loaded = await loadConfigFromFile({ command: 'build', mode: 'production' }, root + '/vite.config.ts', root);
  const { input, output } = loaded.config.build.rollupOptions;
  const importedIds = { [root + '/src/web/entry-client.tsx']: ['module.ts'] };
  const modules = { getModuleInfo: (id) => ({ importedIds: importedIds[id] ?? [] }) };
  const { name } = output.codeSplitting.groups.find(({ debugName }) => debugName === 'shared');
  console.log(JSON.stringify({ inputs: Object.keys(input), chunk: name('module.ts', modules) }));`;

test('a build retains the assets of replaced builds for a week, because the old site runs until it is restarted', async () => {
  await addVite();
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
  const addAsset = async (part: string, name: string, days: number) => {
    await add(`dist/${part}/assets/${name}`, '');
    await utimes(join(checkout, 'dist', part, 'assets', name), daysAgo(days), daysAgo(days));
  };
  for (const part of ['client', 'console']) {
    await add(`dist/${part}/manifest.json`, '{ "app.ts": { "file": "assets/app-current.js" } }');
    for (const suffix of ['', '.br', '.gz']) await addAsset(part, `app-current.js${suffix}`, 400);
    await addAsset(part, 'app-replaced-6-days-ago.js', 6);
    await addAsset(part, 'app-replaced-8-days-ago.js', 8);
  }
  await run(process.execPath, [join(checkout, 'bin/groundswell.js')]);
  for (const part of ['client', 'console']) {
    const assets = join(checkout, 'dist', part, 'assets');
    const names = ['app-current.js', 'app-current.js.br', 'app-current.js.gz', 'app-new.js', 'app-new.js.br'];
    expect((await readdir(assets)).sort()).toEqual([...names, 'app-new.js.gz', 'app-replaced-6-days-ago.js']);
    expect((await stat(join(assets, 'app-current.js'))).mtime > daysAgo(1)).toBe(true);
    expect((await stat(join(assets, 'app-replaced-6-days-ago.js'))).mtime < daysAgo(5)).toBe(true);
  }
});

test.each([
  ['a lock whose process has ended', UNUSED_PID, 0],
  ['an old lock whose process id is in use again', process.pid, 60 * 60_000],
])('a build removes %s', async (_, pid, ageMs) => {
  await addVite();
  await add(`dist-lock-${pid}-left`, '');
  const then = new Date(Date.now() - ageMs);
  await utimes(join(checkout, `dist-lock-${pid}-left`), then, then);
  expect(await run(process.execPath, [join(checkout, 'bin/groundswell.js')])).toMatchObject({ stdout: 'new build\n' });
  expect((await readdir(checkout)).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
});

test('processes that find a lock left behind by a killed build never build at the same time', async () => {
  await addVite();
  await add(`dist-lock-${UNUSED_PID}-left`, '');
  // A process that is slow to delete a lock deletes it while another process builds.
  const slowly = `import promises from 'node:fs/promises';
    import { syncBuiltinESMExports } from 'node:module';
    const { rm } = promises;
    promises.rm = async (path, options) => {
      if (path.includes('dist-lock')) await new Promise((resolve) => setTimeout(resolve, process.env.DELAY_MS));
      return rm(path, options);
    };
    syncBuiltinESMExports();`;
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(slowly)}`];
  const build = (delayMs: number) =>
    run(process.execPath, [...preload, join(checkout, 'scripts/build.js')], { env: { DELAY_MS: `${delayMs}` } });
  // A build fails if another one has begun and not ended.
  await add('node_modules/vite/stub.js', await readFile(join(checkout, 'node_modules/vite/index.js'), 'utf8'));
  await add(
    'node_modules/vite/index.js',
    `import { mkdir, rmdir } from 'node:fs/promises';
    import * as stub from './stub.js';
    const BUILDING = ${JSON.stringify(join(checkout, 'building'))};
    export async function build(options) {
      await mkdir(BUILDING);
      await stub.build(options);
      await new Promise((resolve) => setTimeout(resolve, 300));
      await rmdir(BUILDING);
    }`,
  );
  await Promise.all([build(0), build(400), build(800)]);
});

test('a build removes a lock with its own process id, which a killed build in the same container left behind', async () => {
  await addVite();
  const command = ': > "$1/dist-lock-$$-left"; exec "$0" "$1/bin/groundswell.js"';
  const { stdout, stderr } = await run('sh', ['-c', command, process.execPath, checkout]);
  expect(stdout).toBe('new build\n');
  expect(stderr).not.toContain('Waiting');
});

test('a build replaces the folders that a killed build left behind', async () => {
  await addVite();
  for (const folder of ['dist-new', 'dist-old']) await add(`${folder}/client/assets/app-unfinished.js`, '');
  await run(process.execPath, [join(checkout, 'bin/groundswell.js')]);
  expect((await readdir(checkout)).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
  expect(await readdir(join(checkout, 'dist/client/assets'))).not.toContain('app-unfinished.js');
});

test('a build that waits for another build prints a message', async () => {
  await addVite();
  await add(`dist-lock-${process.pid}-held`, '');
  const waiting = run(process.execPath, [join(checkout, 'bin/groundswell.js')]);
  let output = '';
  waiting.child.stderr?.on('data', (text) => {
    output += text;
  });
  await expect.poll(() => output).toContain('Waiting for the build of another process');
  await rm(join(checkout, `dist-lock-${process.pid}-held`));
  expect(await waiting).toMatchObject({ stdout: 'new build\n' });
});
