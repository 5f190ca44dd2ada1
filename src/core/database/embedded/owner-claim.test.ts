import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EmbeddedHarness, TEST_NAME } from '../../../../tests/support/embedded-harness.ts';
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

describe('the claim on a data folder', () => {
  it('is won by exactly one of many concurrent attempts, repeatedly', async () => {
    const dataDir = await harness.folder();
    for (let round = 0; round < 25; round += 1) {
      const claims = await claimTogether(dataDir, 8);
      expect(claims.filter((one) => one.won)).toHaveLength(1);
      endAll(claims);
    }
  });

  it('ignores leftovers of dead owners', async () => {
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

  it.runIf(process.platform === 'linux')(
    'treats an owner that is killed during the connection attempt as dead',
    async () => {
      const address = join(await harness.folder(), 'dying.sock');
      const listening = `require('node:net').createServer().listen(process.argv[1], () => console.log('listening'))`;
      const owner = spawn(process.execPath, ['--eval', listening, address], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(owner.stdout, 'data');
      owner.kill('SIGSTOP');
      // The event loop must not run between the connection attempt and the owner's death. Otherwise, the connection would
      // be reported as open.
      const asked = connectToListener(address);
      owner.kill('SIGKILL');
      const isDead = () => /\) Z /.test(readFileSync(`/proc/${owner.pid}/stat`, 'utf8'));
      const threads = () => readdirSync(`/proc/${owner.pid}/task`).length;
      while (!isDead() || threads() > 1);
      expect(await asked).toBeNull();
    },
  );
});
