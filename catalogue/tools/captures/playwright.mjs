import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Runs a small test suite, records its output, and captures its HTML report and one test in it. */
export async function playwright({ folder, port, origin, start, page, shoot, toolsFolder }) {
  for (const file of ['shop.spec.js', 'playwright.config.js'])
    cpSync(join(toolsFolder, `samples/playwright/${file}.txt`), join(folder, file));
  symlinkSync(join(toolsFolder, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const command = join(toolsFolder, 'node_modules/@playwright/test/cli.js');
  const env = { ...process.env, FORCE_COLOR: '1', HOME: folder };
  const { stdout } = spawnSync('node', [command, 'test', '--workers=2'], { cwd: folder, env, encoding: 'utf8' });
  const lines = stdout
    .replaceAll(`${folder}/`, '')
    .split('\n')
    .filter((line) => line.trim());
  writeFileSync(
    join(toolsFolder, 'recordings/playwright-3.txt'),
    `$ npx playwright test\n${lines.slice(0, 24).join('\n')}\n`,
  );
  await start('node', [command, 'show-report', 'report', '--host', '127.0.0.1', '--port', String(port)]);
  await page.goto(origin);
  await page.waitForTimeout(1200);
  await shoot(1);
  await page.click('text=offers an anchor');
  await page.waitForTimeout(1200);
  await shoot(2);
}
