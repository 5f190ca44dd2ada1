import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { EmbeddedHarness, isRootRun, TEST_NAME } from '../../../../tests/support/embedded-harness.ts';
import { type Claim, claimOwnership, connectToListener } from './owner-claim.ts';

const harness = new EmbeddedHarness();
afterAll(() => harness.clear());

const claim = (dataDir: string) => claimOwnership(TEST_NAME, dataDir, createServer());

async function claimTogether(dataDir: string, newcomers: number): Promise<Claim[]> {
  return Promise.all(Array.from({ length: newcomers }, () => claim(dataDir)));
}

function endAll(claims: Claim[]): void {
  for (const one of claims) {
    if (one.won) one.release();
    else one.owner.destroy();
  }
}

describe('claims on a data folder', () => {
  it('in each of 25 rounds, exactly one of eight concurrent attempts claims a data folder', async () => {
    const dataDir = await harness.folder();
    for (let round = 0; round < 25; round += 1) {
      const claims = await claimTogether(dataDir, 8);
      expect(claims.filter((one) => one.won)).toHaveLength(1);
      endAll(claims);
    }
  });

  it('a claim ignores leftovers of dead owners', async () => {
    const dataDir = await harness.folder();
    const folder = join(dataDir, 'postgres.owner');
    await mkdir(folder);
    await symlink('gone.sock', join(folder, 'owner-7'));
    await symlink('no-socket.sock', join(folder, 'owner-9'));
    await writeFile(join(folder, 'no-socket.sock'), '');
    const claims = await claimTogether(dataDir, 8);
    expect(claims.filter((one) => one.won)).toHaveLength(1);
    endAll(claims);
  });

  it.runIf(isRootRun && process.platform === 'linux').each([
    ['belongs to another user', { uid: 1, mode: 0o700 }],
    ['others can change', { uid: 0, mode: 0o777 }],
  ])('a claim is refused if a long path needs a folder in /tmp that %s', async (_what, { uid, mode }) => {
    const dataDir = join(await harness.folder(), 'long'.repeat(25));
    await mkdir(dataDir);
    vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
    const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
    const folder = `/tmp/${TEST_NAME}-owner-${hash}`;
    try {
      endAll([await claim(dataDir)]);
      expect(await stat(folder)).toMatchObject({ uid: 0, mode: 0o40700 });
      await chown(folder, uid, uid);
      await chmod(folder, mode);
      await expect(claim(dataDir)).rejects.toMatchObject({ code: 'data_dir_refused' });
    } finally {
      vi.restoreAllMocks();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it.runIf(process.platform === 'linux')(
    'an owner that is killed during the connection attempt counts as dead',
    async () => {
      const address = join(await harness.folder(), 'dying.sock');
      const listening = `require('node:net').createServer().listen(process.argv[1], () => console.log('listening'))`;
      const owner = spawn(process.execPath, ['--eval', listening, address], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(owner.stdout, 'data');
      owner.kill('SIGSTOP');
      // The event loop must not run between the connection attempt and the owner's death. Otherwise, the connection
      // would be reported as open.
      const connecting = connectToListener(address);
      owner.kill('SIGKILL');
      const isDead = () => /\) Z /.test(readFileSync(`/proc/${owner.pid}/stat`, 'utf8'));
      const threads = () => readdirSync(`/proc/${owner.pid}/task`).length;
      while (!isDead() || threads() > 1);
      expect(await connecting).toBeNull();
    },
  );
});
