import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Captures the admin site of a project with two models: a list with filters, and a form. */
export async function django({ folder, port, origin, start, page, shoot, toolsFolder }) {
  const sample = (name, target) => cpSync(join(toolsFolder, `samples/django/${name}.txt`), join(folder, target));
  mkdirSync(join(folder, 'fleet/migrations'), { recursive: true });
  for (const file of ['fleet/__init__.py', 'fleet/migrations/__init__.py']) writeFileSync(join(folder, file), '');
  sample('harbour.py', 'harbour.py');
  sample('models.py', 'fleet/models.py');
  sample('seed.py', 'seed.py');
  const manage = (args, input) =>
    execFileSync('/usr/bin/python3', ['harbour.py', ...args], { cwd: folder, input, encoding: 'utf8' });
  const log = ['makemigrations fleet', 'migrate'].map(
    (line) => `$ python manage.py ${line}\n${manage(line.split(' ')).trimEnd()}`,
  );
  manage(['shell'], readFileSync(join(folder, 'seed.py'), 'utf8'));
  writeFileSync(
    join(toolsFolder, 'recordings/django-3.txt'),
    `${log.join('\n\n').split('\n').slice(0, 22).join('\n')}\n`,
  );
  await start('/usr/bin/python3', ['harbour.py', 'runserver', '--noreload', `127.0.0.1:${port}`]);
  await page.goto(`${origin}/login/`);
  await page.fill('#id_username', 'mira');
  await page.fill('#id_password', 'picture-only');
  await page.click('[type=submit]');
  await page.goto(`${origin}/fleet/boat/`);
  await page.waitForTimeout(500);
  await shoot(1);
  await page.goto(`${origin}/fleet/boat/16/change/`);
  await page.waitForTimeout(500);
  await shoot(2);
}
