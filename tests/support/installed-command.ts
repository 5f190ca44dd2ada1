import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, renameSync, statSync } from 'node:fs';
import { access, chmod, cp, mkdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { environmentWithoutSettings } from './environment.ts';
import { withServer } from './with-server.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Returns the folder of the built package without sources, which the run's test files share. */
const installed = () => join(inject('runFolder'), 'installed');
/** Returns the package's folder for other accounts, with copies instead of links if they cannot enter the checkout. */
const installedForAll = () => join(inject('runFolder'), 'installed-for-all');
const sampleSite = () => join(inject('runFolder'), 'sample-site');

/** Returns the path of the built command, for other accounts or for the account of the tests. */
export function installedProgram(isOtherAccount: boolean): string {
  return join(isOtherAccount ? installedForAll() : installed(), 'bin/groundswell.js');
}

/** Installs the built command for this run, so a build during the tests does not affect them. */
export async function installCommand(): Promise<void> {
  await createSharedFolder(installed(), async (folder) => {
    await build();
    await copyParts(folder, ['bin', 'dist', 'package.json']);
    for (const part of ['node_modules', 'migrations', 'catalogue'])
      await symlink(join(CHECKOUT, part), join(folder, part));
  });
}

/** Installs the built command where other accounts of the operating system can run it. */
export async function installForOtherAccounts(): Promise<void> {
  await installCommand();
  await createSharedFolder(installedForAll(), async (folder) => {
    for (const part of ['bin', 'dist', 'package.json'])
      await cp(join(installed(), part), join(folder, part), { recursive: true });
    if (canEverybodyEnter(join(CHECKOUT, 'node_modules'))) {
      for (const part of ['node_modules', 'migrations', 'catalogue'])
        await symlink(join(CHECKOUT, part), join(folder, part));
      return;
    }
    const { stdout } = await run('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: CHECKOUT });
    const packages = stdout.split('\n').filter((path) => path.startsWith(join(CHECKOUT, 'node_modules')));
    await copyParts(folder, ['migrations', 'catalogue', ...packages.map((path) => relative(CHECKOUT, path))]);
    await makeReadableByAll(folder);
  });
}

/** Copies the data folder of a site with the sample catalogue, which is faster than a first start. */
export async function copySampleSite(dataDir: string): Promise<void> {
  await createSharedFolder(sampleSite(), async (folder) => {
    const env = { ...environmentWithoutSettings(), DATA_DIR: join(folder, 'data'), PORT: '0' };
    const site = spawn(process.execPath, [installedProgram(false), 'serve'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(site, 'exit');
    site.stdout.on('data', (text) => {
      if (String(text).includes('Groundswell is up')) site.kill('SIGTERM');
    });
    const [code] = await exited;
    if (code !== 0) throw new Error(`The sample site exited with code ${code}.`);
  });
  await run('cp', ['-a', join(sampleSite(), 'data'), dataDir]);
}

async function copyParts(folder: string, parts: readonly string[]): Promise<void> {
  for (const part of parts) {
    await mkdir(dirname(join(folder, part)), { recursive: true });
    await cp(join(CHECKOUT, part), join(folder, part), { recursive: true, verbatimSymlinks: true });
  }
}

/** Lets every account read a folder copied from the checkout, whose file modes may come from a strict umask. */
export async function makeReadableByAll(folder: string): Promise<void> {
  await run('chmod', ['-R', 'a+rX', folder]);
}

/** Returns the path of Node.js, or of a copy if other accounts cannot run it, such as in the home folder of root. */
export function nodeForAll(): string {
  if (canEverybodyEnter(process.execPath)) return process.execPath;
  const copy = join(inject('runFolder'), 'node');
  if (existsSync(copy)) return copy;
  const unfinished = `${copy}-${process.pid}`;
  copyFileSync(process.execPath, unfinished);
  chmodSync(unfinished, 0o755);
  renameSync(unfinished, copy);
  return copy;
}

/** Returns whether every account can enter a folder, or run a program. */
function canEverybodyEnter(path: string): boolean {
  if ((statSync(path).mode & 0o001) === 0) return false;
  return path === dirname(path) || canEverybodyEnter(dirname(path));
}

async function build(): Promise<void> {
  const child = spawn(process.execPath, [join(CHECKOUT, 'bin/groundswell.js'), '--help'], { stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('Could not build the site. Run `npm run build` to see the error.');
}

/** Creates a folder that the run's test files share, unless it exists. An advisory lock serializes concurrent calls. */
export async function createSharedFolder(folder: string, make: (folder: string) => Promise<void>): Promise<void> {
  if (await exists(folder)) return;
  await withServer(inject('databaseServerUrl'), (server) =>
    server.transaction(async (sql) => {
      await sql.query('SELECT pg_advisory_xact_lock(1)');
      if (await exists(folder)) return;
      const unfinished = `${folder}-unfinished`;
      // A failed call may have left this folder.
      await rm(unfinished, { recursive: true, force: true });
      await mkdir(unfinished);
      await chmod(unfinished, 0o755);
      await make(unfinished);
      await rename(unfinished, folder);
    }),
  );
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
