import { execFileSync } from 'node:child_process';
import { appendFile, chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  EmbeddedHarness,
  isRootRun,
  TEST_NAME,
  waitUntilNoProcesses,
} from '../../../../tests/support/embedded-harness.ts';
import { silentLog } from '../../../../tests/support/silent-log.ts';
import { OPERATOR_TERMS } from '../connect.ts';
import { binariesIn } from './binaries.ts';
import { checkClusterPermissions, type HostEnvironment, thisHost } from './cluster-location.ts';
import { EmbeddedDatabaseError } from './embedded-database-error.ts';
import { openEmbedded } from './open-embedded.ts';

const harness = new EmbeddedHarness();
afterAll(() => harness.clear());

/** Returns the error of a start that must fail, and checks that its message is one line. */
async function failure(dataDir: string, host: Partial<HostEnvironment> = {}): Promise<EmbeddedDatabaseError> {
  const opening = openEmbedded(
    { name: TEST_NAME, dataDir, mode: 'own', log: silentLog, terms: OPERATOR_TERMS },
    { ...thisHost, ...host },
  );
  const error = await opening.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof EmbeddedDatabaseError)) throw new Error(`No EmbeddedDatabaseError: ${error}`);
  expect(error.message).not.toContain('\n');
  return error;
}

describe('the error of an unusable database says why in one line', () => {
  it.each([
    ['a platform without a build of PostgreSQL', { platform: 'sunos', arch: 'x64' }],
    [
      'a build of PostgreSQL that is not installed',
      { platform: 'linux', arch: process.arch === 'ppc64' ? 'ia32' : 'ppc64' },
    ],
  ])('%s is reported with a message that names DATABASE_URL', async (_, host) => {
    const error = await failure(join(await harness.folder(), 'data'), host);
    expect(error).toMatchObject({ code: 'platform_unsupported', message: expect.stringContaining('DATABASE_URL') });
  });

  it('programs for another C library are reported with a message that names DATABASE_URL', async () => {
    const packageDir = await harness.folder();
    const bin = join(packageDir, 'native', 'bin');
    await mkdir(bin, { recursive: true });
    await writeFile(join(packageDir, 'package.json'), '{"version":"0"}');
    for (const name of ['postgres', 'initdb']) {
      await writeFile(join(bin, name), '#!/lib/no-such-loader.so\n');
      await chmod(join(bin, name), 0o755);
    }
    const error = await failure(join(await harness.folder(), 'data'), { binaries: await binariesIn(packageDir) });
    expect(error).toMatchObject({ code: 'platform_unsupported', message: expect.stringContaining('DATABASE_URL') });
  });

  it('a data folder that cannot be created is reported', async () => {
    const file = join(await harness.folder(), 'file');
    await writeFile(file, '');
    for (const [dataDir, reason] of [
      [file, 'EEXIST'],
      [join(file, 'data'), 'ENOTDIR'],
    ] as const) {
      const { code, message } = await failure(dataDir);
      expect(code).toBe('data_dir_unwritable');
      expect(message).toContain(`${dataDir} (${reason}): set DATA_DIR to`);
    }
  });

  // Root may write to any folder.
  it.runIf(!isRootRun)('a data folder to which this user cannot write is reported', async () => {
    const folder = await harness.folder(0o555);
    for (const dataDir of [folder, join(folder, 'data')]) {
      const error = await failure(dataDir);
      expect(error).toMatchObject({ code: 'data_dir_unwritable', message: expect.stringContaining('EACCES') });
    }
  });

  it.runIf(process.platform === 'linux')(
    'a location in which no folder can be created is reported without endless retries',
    async () => {
      const error = await failure('/proc/groundswell');
      expect(error).toMatchObject({ code: 'data_dir_unwritable', message: expect.stringContaining('ENOENT') });
    },
  );

  it('a database of another major version of PostgreSQL is reported and left unchanged', async () => {
    const dataDir = await harness.createDataDir();
    const location = join(dataDir, 'postgres');
    await writeFile(join(location, 'PG_VERSION'), '17\n');
    const before = await readdir(location);
    const error = await failure(dataDir);
    expect(error.code).toBe('version_mismatch');
    expect(error.message).toMatch(
      /PostgreSQL 17, .* PostgreSQL 18\. .*groundswell backup.*move the folder away.*groundswell restore.*DATABASE_URL/,
    );
    expect(await readdir(location)).toEqual(before);
  });

  it('the message about a database folder that others can enter names its mode and the command that corrects it', async () => {
    const dataDir = await harness.createDataDir();
    const location = join(dataDir, 'postgres');
    await chmod(location, 0o755);
    const error = await failure(dataDir);
    expect(error).toMatchObject({ code: 'data_dir_refused', message: expect.stringContaining('has the mode 755') });
    expect(error.message).toContain(`chmod 700 ${location}`);
  });

  it.runIf(isRootRun)(
    'the message about a database of another user names that user and the command that changes the owner',
    async () => {
      const location = join(await harness.createDataDir(), 'postgres');
      // Root may open any user's folder, so the check runs as another user.
      const owner = (await stat(location)).uid;
      const daemon = 1;
      const seteuid = process.seteuid ?? (() => {});
      let thrown: unknown;
      seteuid(daemon);
      try {
        thrown = await checkClusterPermissions({ clusterDir: location, account: { kind: 'self' } }).catch(
          (error: unknown) => error,
        );
      } finally {
        seteuid(0);
      }
      expect(thrown).toMatchObject({ code: 'data_dir_refused' });
      expect(String(thrown)).toMatch(
        new RegExp(`belongs to user id ${owner}, but this process runs as user id 1.*chown -R 1`),
      );
    },
  );

  it("a server that does not start is reported with PostgreSQL's reason, and the folder is free again", async () => {
    const dataDir = await harness.createDataDir();
    const location = join(dataDir, 'postgres');
    await appendFile(join(location, 'postgresql.conf'), 'no_such_setting = 1\n');
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const error = await failure(dataDir);
      expect(error).toMatchObject({ code: 'start_failed', message: expect.stringContaining('no_such_setting') });
    }
    await waitUntilNoProcesses(location);
  });

  it.runIf(isRootRun && process.platform === 'linux')('a full disk is reported', async ({ skip }) => {
    const folder = await harness.folder();
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=755', 'tmpfs', folder], { stdio: 'ignore' });
    } catch {
      skip('Mounting is not allowed here.');
    }
    try {
      const error = await failure(join(folder, 'data'));
      expect(error).toMatchObject({
        code: 'start_failed',
        message: expect.stringContaining('No space left on device'),
      });
      expect(await readdir(join(folder, 'data'))).toEqual(['postgres.owner']);
    } finally {
      execFileSync('umount', [folder]);
    }
  });
});
