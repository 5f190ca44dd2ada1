/**
 * Builds the site into dist/: the browser files of the site and the console, with compressed copies, and the server.
 *
 * The build is written to a staging folder that is then renamed, so a running site never reads an incomplete build, and
 * a killed build leaves none in dist/. The file `stamp` contains a hash of all inputs, to detect a stale build.
 */
import { createHash, randomUUID } from 'node:crypto';
import { constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { access, copyFile, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import { isRunning } from './is-running.js';

// Builds are always for production, regardless of the environment.
process.env.NODE_ENV = 'production';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const DIST = join(ROOT, 'dist');

/** The inputs of a build. A folder includes all files below it, except tests. */
const INPUTS = [
  'src',
  'public',
  'scripts',
  'package-lock.json',
  'vite.config.ts',
  'vite.console.config.ts',
  'vite.server.config.ts',
  'vite.service-worker.config.ts',
];

const TEST_FILE = /\.test\.tsx?$/;

/**
 * Builds the site unless dist/ was built from the current sources. If the site cannot be built, the existing build is
 * used. Without a build, the process exits with code 2.
 */
export async function buildIfStale() {
  const stamp = stampOf(INPUTS);
  const built = await readFile(join(DIST, 'stamp'), 'utf8').catch(() => undefined);
  if (built === stamp) return;
  const obstacle = await buildObstacle();
  if (obstacle !== undefined) {
    const command = 'npm ci --include=dev && npm run build';
    if (!existsSync(join(DIST, 'server/cli.js'))) {
      console.error(`groundswell: the site is not built, and ${obstacle}. Run ${command}.`);
      process.exit(2);
    }
    console.error(`Using an older build of the site, because ${obstacle}. Run ${command} to update it.`);
    return;
  }
  console.error('Building the site …');
  await withLock(async () => {
    // While this process waited for the lock, another one may have built the same sources.
    if ((await readFile(join(DIST, 'stamp'), 'utf8').catch(() => undefined)) !== stamp) await build(stamp);
  });
}

/** Returns the reason why this deployment cannot build the site, if any. */
async function buildObstacle() {
  try {
    import.meta.resolve('vite');
  } catch {
    return 'vite is not installed';
  }
  const isWritable = await access(ROOT, constants.W_OK).then(
    () => true,
    () => false,
  );
  return isWritable ? undefined : `${ROOT} is not writable`;
}

/** Far longer than a build takes. The process id in the name of an older lock may have been reused. */
const MAX_BUILD_MS = 10 * 60_000;

const LOCK_NAME = /^dist-lock-(\d+)-/;

/**
 * Runs `work` under a lock, so only one process of this checkout builds. Each process has its own lock file, so none
 * can remove the lock of another by mistake. Locks that were left over are removed.
 */
async function withLock(work) {
  const lock = `dist-lock-${process.pid}-${randomUUID()}`;
  let isWaiting = false;
  try {
    for (;;) {
      let holder = await findHolder(lock);
      if (holder === undefined) {
        // Of two processes that write their locks and then look for others, at least one finds the other.
        await writeFile(join(ROOT, lock), '');
        holder = await findHolder(lock);
        if (holder === undefined) break;
        await rm(join(ROOT, lock), { force: true });
      }
      if (!isWaiting) console.error(`Waiting for the build of another process, which holds ${join(ROOT, holder)} …`);
      isWaiting = true;
      await sleep(100 + 100 * Math.random());
    }
    await work();
  } finally {
    await rm(join(ROOT, lock), { force: true });
  }
}

/** Returns the name of another process's lock, if any. Removes locks that were left over. */
async function findHolder(own) {
  for (const name of await readdir(ROOT)) {
    const [, pid] = LOCK_NAME.exec(name) ?? [];
    const stats = name !== own && pid && statSync(join(ROOT, name), { throwIfNoEntry: false });
    if (!stats) continue;
    // A restarted container gives its processes the same ids again, so this process may have the id of a killed one.
    const isHeld = Number(pid) !== process.pid && isRunning(Number(pid));
    if (isHeld && Date.now() - stats.mtimeMs <= MAX_BUILD_MS) return name;
    await rm(join(ROOT, name), { force: true });
  }
  return undefined;
}

async function build(stamp) {
  // Vite is imported only here, because a site that is already built does not need it.
  const { build: bundle } = await import('vite');
  const staging = `${DIST}-new`;
  // A killed build may have left its folder. The lock ensures that no other build uses it.
  await rm(staging, { recursive: true, force: true });
  // On a slow machine, Rolldown would print advice about profiling its plugins.
  const rolldownOptions = { checks: { bundlerTimings: false } };
  try {
    for (const [configFile, outDir] of [
      ['vite.config.ts', 'client'],
      ['vite.console.config.ts', 'console'],
      ['vite.server.config.ts', 'server'],
    ]) {
      await bundle({
        root: ROOT,
        configFile: join(ROOT, configFile),
        logLevel: 'warn',
        build: { outDir: join(staging, outDir), rolldownOptions },
      });
    }
    await bundle({
      root: ROOT,
      configFile: join(ROOT, 'vite.service-worker.config.ts'),
      logLevel: 'warn',
      define: { BUILD_ID: JSON.stringify(stamp.slice(0, 16)), BUILD_FILES: JSON.stringify(await filesOf(staging)) },
      build: { outDir: join(staging, 'client'), rolldownOptions },
    });
    for (const part of ['client', 'console']) await compressFolder(join(staging, part, 'assets'));
    await writeFile(join(staging, 'stamp'), stamp);
    await replaceDist(staging);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Fonts and raster images are already compressed. */
const COMPRESSIBLE = /\.(?:js|css|svg|json)$/;

/** Writes a `.br` and a `.gz` copy of every compressible file in a folder, with maximum compression. */
async function compressFolder(folder) {
  const names = (await readdir(folder)).filter((name) => COMPRESSIBLE.test(name));
  await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const content = await readFile(path);
      const [br, gz] = await Promise.all([
        promisify(brotliCompress)(content, { params: { [zlib.BROTLI_PARAM_QUALITY]: 11 } }),
        promisify(gzip)(content, { level: 9 }),
      ]);
      await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
    }),
  );
}

/** Returns the URLs of the files that the service worker caches for offline use. All have hashed names. */
async function filesOf(staging) {
  const files = await readdir(join(staging, 'client', 'assets'));
  // A visitor needs only one language, so the service worker caches language files when a page requests them.
  return files
    .filter((file) => !file.startsWith('language-'))
    .sort()
    .map((file) => `/assets/${file}`);
}

/** How long the assets of a replaced build are retained. */
const RETENTION_MS = 7 * 24 * 60 * 60_000;

/**
 * Copies the assets of replaced builds, which running sites and open pages still request. The modification time of a
 * copy is the time at which its build was replaced, because retention starts then: the build may have been in use for
 * years before.
 */
async function retainAssets(staging) {
  for (const part of ['client', 'console']) {
    const [from, to] = [join(DIST, part, 'assets'), join(staging, part, 'assets')];
    const manifest = await readFile(join(DIST, part, 'manifest.json'), 'utf8').catch(() => '');
    const added = new Set(await readdir(to));
    for (const name of await readdir(from).catch(() => [])) {
      const isReplacedNow = manifest.includes(name.replace(/\.(?:br|gz)$/, ''));
      const replaced = isReplacedNow ? new Date() : statSync(join(from, name)).mtime;
      if (added.has(name) || Date.now() - replaced.getTime() > RETENTION_MS) continue;
      await copyFile(join(from, name), join(to, name));
      await utimes(join(to, name), replaced, replaced);
    }
  }
}

async function replaceDist(staging) {
  await retainAssets(staging);
  const old = `${DIST}-old`;
  await rm(old, { recursive: true, force: true });
  if (existsSync(DIST)) await rename(DIST, old);
  await rename(staging, DIST);
  await rm(old, { recursive: true, force: true });
}

function stampOf(inputs) {
  const hash = createHash('sha256');
  for (const input of inputs) addToHash(hash, join(ROOT, input));
  return hash.digest('hex');
}

function addToHash(hash, path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) {
    for (const name of readdirSync(path).sort()) addToHash(hash, join(path, name));
  } else if (stats && !TEST_FILE.test(path)) {
    hash.update(path.slice(ROOT.length)).update('\0').update(readFileSync(path));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await withLock(() => build(stampOf(INPUTS)));
