import { relative } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { PACKAGE_FOLDERS, PACKAGE_ROOT } from '../../src/settings/package-root.ts';
import { readSettings, SETTING_NAMES } from '../../src/settings/settings.ts';
import { filesBelow, readText } from './source-files.ts';

/** Returns the upper-case names that a file assigns, whatever its format. */
function settingsIn(text: string): string[] {
  const isComment = /^\s*#/;
  const lines = text.split('\n').filter((line) => !isComment.test(line));
  const names = lines.flatMap((line) => [...line.matchAll(/\b([A-Z][A-Z_]+)(?:=|: )/g)].map((match) => match[1] ?? ''));
  return [...new Set(names)];
}

/** Variables that these files set for other programs. */
const OF_OTHERS = ['NODE_ENV', 'POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_DB', 'POSTGRES_INITDB_ARGS'];

describe('the deployment examples', () => {
  test.each(['Dockerfile', 'deploy/compose.yaml', 'deploy/groundswell.service', 'deploy/groundswell.env'])(
    '%s names only existing settings',
    async (path) => {
      const unknown = settingsIn(await readText(path)).filter(
        (name) => ![...SETTING_NAMES, ...OF_OTHERS].includes(name),
      );
      expect(unknown).toEqual([]);
    },
  );

  test('the check finds settings in unit files, environment files and YAML, and ignores comments', () => {
    expect(settingsIn('Environment=DATA_DIR=/x MADE_UP=1\n# OLD=1\n      PORT: 3')).toEqual([
      'DATA_DIR',
      'MADE_UP',
      'PORT',
    ]);
  });

  test('the systemd unit and the documented commands read all settings from one file', async () => {
    const unit = await readText('deploy/groundswell.service');
    expect(unit).not.toMatch(/^Environment=/m);
    const [, file] = /^EnvironmentFile=(\S+)$/m.exec(unit) ?? [];
    expect(await readText('deploy/groundswell.env')).toContain(`# ${file}: `);
    const operations = await readText('docs/operations.md');
    const commands = [...operations.matchAll(/sudo -u groundswell .*?(?=[`'])/g)].map(([command]) => command);
    expect(commands).toEqual([`sudo -u groundswell node --env-file=${file} bin/groundswell.js`]);
  });

  test('the documentation and the upgrade script contain the same command for upgrading the systemd deployment', async () => {
    const [, folder] = /^WorkingDirectory=(\S+)$/m.exec(await readText('deploy/groundswell.service')) ?? [];
    const command = `sh ${folder}/deploy/upgrade.sh\n`;
    expect(await readText('docs/operations.md')).toContain(`\n${command}`);
    expect(await readText('deploy/upgrade.sh')).toContain(`Run as root: ${command}`);
  });

  test('every npm prune leaves package-lock.json unchanged, because git pull and the stamp of the build depend on it', async () => {
    const files = ['Dockerfile', ...(await filesBelow('deploy')), 'docs/operations.md'];
    const text = (await Promise.all(files.map(readText))).join('\n');
    const commands = text.match(/npm prune --.*/g) ?? [];
    expect(commands.length).toBeGreaterThan(2);
    expect(commands.filter((command) => !command.includes(' --no-save'))).toEqual([]);
  });

  test('the documented move to a new embedded PostgreSQL stops the site before the backup, so no write is lost', async () => {
    const [, upgrade = ''] = (await readText('docs/operations.md')).split(
      'A new major version of the embedded PostgreSQL',
    );
    const steps = ['Stop the site', 'back up with', 'move\n`DATA_DIR/postgres` away', 'restore with', 'start the site'];
    const found = steps.map((step) => upgrade.indexOf(step));
    expect(found).not.toContain(-1);
    expect(found).toEqual(found.toSorted((a, b) => a - b));
  });

  test('the settings in the examples of the systemd unit and the Compose file are valid', async () => {
    const ofUnit = parseEnv(await readText('deploy/groundswell.env'));
    expect(readSettings(ofUnit)).toMatchObject({ siteUrl: 'https://launches.example', backups: { maxBackups: 28 } });
    const [, block = ''] = /environment:\n([\s\S]*?)\n {4}ports:/.exec(await readText('deploy/compose.yaml')) ?? [];
    const filled = block
      .replaceAll(/\$\{SITE_URL:-([^}]*)\}/g, '$1')
      .replaceAll(/\$\{POSTGRES_PASSWORD:[^}]*\}/g, 'word');
    const ofCompose = Object.fromEntries(
      [...filled.matchAll(/^ +([A-Z_]+): "?(.*?)"?$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(readSettings(ofCompose)).toMatchObject({
      databaseUrl: 'postgres://groundswell:word@database:5432/groundswell',
      backups: { folder: '/data/backups', maxBackups: 28 },
    });
  });

  test('the systemd unit can write to every folder of its settings, and shows how to add one', async () => {
    const unit = await readText('deploy/groundswell.service');
    expect(unit).toMatch(/^ProtectSystem=strict$/m);
    expect(unit).toMatch(/^#?ReadWritePaths=\/mnt\/backups$/m);
    const [, state] = /^StateDirectory=(\S+)$/m.exec(unit) ?? [];
    const [, added = ''] = /^ReadWritePaths=(.+)$/m.exec(unit) ?? [];
    const writable = [`/var/lib/${state}`, ...added.split(' ').filter((path) => path !== '')];
    const settings = Object.entries(parseEnv(await readText('deploy/groundswell.env')));
    const folders = settings.flatMap(([name, value = '']) => (name.endsWith('_DIR') ? [value] : []));
    expect(folders).toHaveLength(2);
    expect(folders.filter((path) => !writable.some((folder) => path.startsWith(`${folder}/`)))).toEqual([]);
    expect(await readText('deploy/groundswell.env')).toMatch(/^# .*ReadWritePaths=.*\nBACKUP_DIR=/m);
  });

  test('the commands for Compose read the password from a file that git ignores', async () => {
    const compose = await readText('deploy/compose.yaml');
    const commands = [...compose.matchAll(/^# {3}(.*)$/gm)].map(([, command]) => command);
    expect(commands).toEqual([
      expect.stringMatching(/"POSTGRES_PASSWORD=.*" > deploy\/\.env\)$/),
      expect.stringMatching(/"SITE_URL=.*" >> deploy\/\.env$/),
      'docker compose --file deploy/compose.yaml up --build --detach',
      'docker compose --file deploy/compose.yaml exec site node bin/groundswell.js doctor',
    ]);
    expect((await readText('.gitignore')).split('\n')).toContain('/deploy/.env');
  });

  test('Compose starts the site when the database accepts connections from it, not during its initialization', async () => {
    expect(await readText('deploy/compose.yaml')).toContain('"CMD", "pg_isready", "--host", "127.0.0.1",');
  });

  test('the Docker image contains every folder that the site reads at run time', async () => {
    const [, last = ''] = (await readText('Dockerfile')).split(/^FROM .*\n(?![\s\S]*^FROM )/m);
    const copied = [...last.matchAll(/^COPY --from=build \/app\/(\S+) /gm)].map((match) => match[1] ?? '');
    const needed = Object.values(PACKAGE_FOLDERS).map((folder) => relative(PACKAGE_ROOT, folder));
    const isCopied = (path: string) => copied.some((folder) => path === folder || path.startsWith(`${folder}/`));
    expect([...needed, 'package.json', 'node_modules', 'bin'].filter((path) => !isCopied(path))).toEqual([]);
  });

  test('the Docker build context contains all inputs of the build', async () => {
    const [, list = ''] = /const INPUTS = \[([^\]]*)\]/.exec(await readText('scripts/build.js')) ?? [];
    const inputs = [...list.matchAll(/'([^']+)'/g)].map((match) => match[1] ?? '');
    expect(inputs).toContain('src');
    const sent = (await readText('.dockerignore'))
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const isSent = (path: string) =>
      sent.some((pattern) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`).test(path));
    expect(
      [...inputs, 'package.json', 'tsconfig.json', 'migrations', 'catalogue', 'bin', 'assets'].filter(
        (path) => !isSent(path),
      ),
    ).toEqual([]);
  });

  test('npm start, the Docker image and the systemd unit pass the same flags to Node.js', async () => {
    const commands = [
      /"start": "exec node (.*?) bin\/groundswell\.js serve"/.exec(await readText('package.json'))?.[1],
      /^ENTRYPOINT \["node", "(.*?)", "bin\/groundswell\.js"\]$/m.exec(await readText('Dockerfile'))?.[1],
      /^ExecStart=\S+ (.*?) bin\/groundswell\.js serve$/m.exec(await readText('deploy/groundswell.service'))?.[1],
    ];
    expect(commands).toEqual(Array(3).fill('--max-semi-space-size=32'));
  });

  test('the Docker image does not run the site as root, and runs it directly, so the site gets stop signals', async () => {
    const dockerfile = await readText('Dockerfile');
    expect(dockerfile).toMatch(/^ENTRYPOINT \["node", "--\S+", "bin\/groundswell\.js"\]$/m);
    expect(dockerfile).toMatch(/^CMD \["serve"\]$/m);
    expect(dockerfile).toMatch(/^USER node$/m);
  });

  test('the systemd unit limits what a compromised picture decoder could do', async () => {
    const unit = await readText('deploy/groundswell.service');
    expect(unit).toMatch(/^NoNewPrivileges=yes\nCapabilityBoundingSet=$/m);
    expect(unit).toMatch(/^RestrictNamespaces=yes$/m);
  });

  test('the user of the systemd unit can write to its folder before the first start, for a restore', async () => {
    const unit = await readText('deploy/groundswell.service');
    const [, state] = /^StateDirectory=(\S+)$/m.exec(unit) ?? [];
    expect(unit).toContain(`useradd --system --create-home --home-dir /var/lib/${state} groundswell\n`);
  });

  test('systemd restarts the site after a failure, without limit and with a delay', async () => {
    const [unit = '', service = ''] = (await readText('deploy/groundswell.service')).split('[Service]');
    expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
    // A setting is invalid until its folder is mounted, and systemd does not restart the site after invalid settings.
    expect(unit).toMatch(/^After=.*\bremote-fs\.target$/m);
    expect(service).toMatch(/^Restart=on-failure\nRestartSec=\d+$/m);
  });

  test('Caddy does not check the health of its only upstream, because cached pages do not need the database', async () => {
    const caddyfile = await readText('deploy/Caddyfile');
    expect(caddyfile).toMatch(/^\treverse_proxy 127\.0\.0\.1:3000 \{$/m);
    expect(caddyfile).not.toMatch(/^\s*health_/m);
  });
});
