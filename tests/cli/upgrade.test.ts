import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, '../../deploy/upgrade.sh');

/** Programs that the script runs and that `STUB` replaces. */
const PROGRAMS = ['git', 'npm', 'runuser', 'systemctl', 'sleep'];

/**
 * Replaces each of these programs: records the call, fails if the call matches the pattern FAILING, kills the script if
 * it matches KILLING, and writes a new version on `git pull`. A version with a file `broken` cannot make backups, and is
 * not ready. On `systemctl stop`, simulates a terminal that hangs up.
 */
const STUB = `#!/bin/sh
call="\${0##*/} $*"
echo "$call" >> "$CALLS"
case $call in $FAILING) exit 1 ;; esac
case $call in $KILLING) kill -KILL $PPID ;; esac
case $call in
  'git pull') rm -f version broken && echo new > version ;;
  'npm run build') for part in client console; do echo built > dist/$part/assets/$(cat version).js; done ;;
  *' backup '*) [ ! -e broken ] || exit 1 ;;
  *readyz*) [ ! -e "$ROOT/broken" ] || exit 1 ;;
  'systemctl stop groundswell') kill -HUP $PPID && kill -INT $PPID ;;
esac
`;

let folder: string;
let root: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'groundswell-upgrade-'));
  root = join(folder, 'srv/groundswell');
  const assets = ['client', 'console'].map((part) => `srv/groundswell/dist/${part}/assets`);
  for (const path of ['bin', 'srv/groundswell/deploy', ...assets, 'srv/groundswell.old', 'srv/groundswell.new'])
    await mkdir(join(folder, path), { recursive: true });
  for (const name of PROGRAMS) await writeFile(join(folder, 'bin', name), STUB, { mode: 0o755 });
  await copyFile(SCRIPT, join(root, 'deploy/upgrade.sh'));
  await writeFile(join(root, 'version'), 'current\n');
  await writeFile(`${root}.old/version`, 'previous\n');
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs shell commands with the stubs. Calls that match the pattern `failing` fail, and `killing` kill the script. */
async function shell(command: string, failing = '', killing = '') {
  const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;
  const env = { PATH, CALLS: join(folder, 'calls'), ROOT: root, FAILING: failing, KILLING: killing };
  return run('sh', ['-c', command], { env }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );
}

/** Runs the script with a umask that makes new files readable only by their owner. */
const upgrade = (failing?: string, killing?: string) =>
  shell(`umask 077; sh ${root}/deploy/upgrade.sh`, failing, killing);

async function versions() {
  const read = (path: string) => readFile(join(path, 'version'), 'utf8').catch(() => undefined);
  return { current: (await read(root))?.trim(), old: (await read(`${root}.old`))?.trim() };
}

async function calls(): Promise<string[]> {
  return (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n');
}

describe.skipIf(process.platform !== 'linux')('deploy/upgrade.sh', () => {
  test('builds, checks and backs up before it stops the site, and finishes even if the terminal hangs up', async () => {
    expect(await upgrade()).toEqual({ code: 0, stderr: '' });
    expect(await versions()).toEqual({ current: 'new', old: 'current' });
    expect(existsSync(`${root}.new`)).toBe(false);
    expect((await stat(join(root, 'version'))).mode & 0o777).toBe(0o644);
    const asSite = 'runuser -u groundswell -- ';
    const withSettings = `${asSite}node --env-file=/etc/groundswell.env `;
    // The script that requests /readyz has several lines.
    const checksReadiness = [`${withSettings}-e `, 'http.get(', '.on("error"'].map((text) =>
      expect.stringContaining(text),
    );
    expect(await calls()).toEqual([
      ...checksReadiness,
      'git checkout -- package-lock.json',
      'git pull',
      'npm ci',
      'npm run build',
      'npm prune --omit=dev --no-save',
      `${asSite}node bin/groundswell.js --version`,
      expect.stringMatching(
        new RegExp(`^${withSettings}bin/groundswell\\.js backup \\S+/before-\\d{4}-\\d\\d-\\d\\d-\\d{6}\\.backup$`),
      ),
      'systemctl stop groundswell',
      'systemctl start groundswell',
      ...checksReadiness,
      expect.stringContaining(`${asSite}sh -c `),
    ]);
  });

  test.each(['git pull', 'npm ci', 'npm run build', 'runuser *--version', 'runuser * backup *'])(
    'a failure of `%s` leaves the running site and the previous version unchanged, and removes the copy',
    async (failing) => {
      expect(await upgrade(failing)).toMatchObject({ code: 1 });
      expect(await versions()).toEqual({ current: 'current', old: 'previous' });
      expect(existsSync(`${root}.new`)).toBe(false);
      expect((await calls()).filter((call) => call.startsWith('systemctl'))).toEqual([]);
    },
  );

  test('an upgrade fails while another one runs, and leaves its copy unchanged', async () => {
    await writeFile(`${root}.new/version`, 'unfinished\n');
    const second = await shell(`flock ${join(folder, 'srv')} sh ${root}/deploy/upgrade.sh`);
    expect(second).toEqual({ code: 1, stderr: 'Another upgrade is running.\n' });
    expect(await readFile(`${root}.new/version`, 'utf8')).toBe('unfinished\n');
    expect(await upgrade()).toMatchObject({ code: 0 });
  });

  test('if the new version cannot be moved into place, the old one is restored and started', async () => {
    const stub = `${STUB}exec /bin/mv "$@"\n`;
    await writeFile(join(folder, 'bin/mv'), stub, { mode: 0o755 });
    expect(await upgrade(`mv*.new *`)).toMatchObject({ code: 1 });
    expect(await versions()).toEqual({ current: 'current', old: undefined });
    expect(existsSync(`${root}.new`)).toBe(false);
    expect((await calls()).at(-1)).toBe('systemctl start groundswell');
  });

  test('if the new version does not become ready, the script fails and prints commands that restore the old one, which also serves the new files', async () => {
    const { code, stderr } = await upgrade('runuser*readyz*');
    expect(code).toBe(1);
    expect(stderr).toContain('is not ready');
    expect(await versions()).toEqual({ current: 'new', old: 'current' });
    await shell(`trap '' HUP INT; ${stderr.split('\n')[1]}`);
    expect(await versions()).toEqual({ current: 'current', old: undefined });
    for (const part of ['client', 'console'])
      expect(await readdir(join(root, 'dist', part, 'assets'))).toEqual(['new.js']);
    expect((await calls()).at(-1)).toBe('systemctl start groundswell');
  });

  test.each([
    ['did not become ready', 'runuser*readyz*', undefined],
    ['was killed before the version became ready', 'runuser*readyz*', 'systemctl is-failed *'],
  ])('if the last upgrade %s, the next one keeps the last working version', async (_, failing, killing) => {
    expect(await upgrade(failing, killing)).not.toMatchObject({ code: 0 });
    await writeFile(join(root, 'version'), 'not working\n');
    await writeFile(join(root, 'broken'), '');
    expect(await upgrade()).toMatchObject({ code: 0 });
    expect(await versions()).toEqual({ current: 'new', old: 'current' });
    await writeFile(join(root, 'version'), 'working\n');
    expect(await upgrade()).toMatchObject({ code: 0 });
    expect(await versions()).toEqual({ current: 'new', old: 'working' });
  });

  test('the next upgrade keeps a version that became ready only after its own upgrade had failed', async () => {
    expect(await upgrade('runuser*readyz*')).toMatchObject({ code: 1 });
    await writeFile(join(root, 'version'), 'late\n');
    expect(await upgrade()).toMatchObject({ code: 0 });
    expect(await versions()).toEqual({ current: 'new', old: 'late' });
  });

  test('after a return to the old version, a later upgrade is not taken for the last working version', async () => {
    const { stderr } = await upgrade('runuser*readyz*');
    await shell(`trap '' HUP INT; ${stderr.split('\n')[1]}`);
    expect(await upgrade()).toMatchObject({ code: 0 });
    expect(await versions()).toEqual({ current: 'new', old: 'current' });
    await shell(`mv ${root} ${root}.swap; mv ${root}.old ${root}; mv ${root}.swap ${root}.old`);
    expect(await upgrade()).toMatchObject({ code: 0 });
    expect(await versions()).toEqual({ current: 'new', old: 'current' });
  });

  test('if the current version is not ready and cannot make the backup, the last working version makes it', async () => {
    await upgrade('runuser*readyz*');
    await writeFile(join(root, 'broken'), '');
    await writeFile(join(`${root}.old`, 'broken'), '');
    expect(await upgrade()).toMatchObject({ code: 1 });
    expect(await versions()).toEqual({ current: 'new', old: 'current' });
    await rm(join(`${root}.old`, 'broken'));
    expect(await upgrade()).toMatchObject({ code: 0 });
  });
});
