import { cp } from 'node:fs/promises';
import { join } from 'node:path';

/** Captures the flow editor with a running flow, and the form of a node. */
export async function nodeRed({ folder, port, origin, start, page, shoot, toolsFolder }) {
  await cp(join(toolsFolder, 'samples/node-red/flows.json.txt'), join(folder, 'flows.json'));
  await cp(join(toolsFolder, 'samples/node-red/settings.cjs.txt'), join(folder, 'settings.js'));
  await start('node', [
    join(toolsFolder, 'node_modules/node-red/red.js'),
    '-u',
    folder,
    '-p',
    String(port),
    '-s',
    join(folder, 'settings.js'),
    'flows.json',
  ]);
  await page.goto(origin);
  await page.waitForSelector('.red-ui-flow-node', { timeout: 30_000 });
  await page.waitForTimeout(2500);
  await page.keyboard.press('Escape');
  const close = page.locator('.red-ui-notification button, .ui-dialog-titlebar-close');
  for (const button of await close.all()) await button.click({ timeout: 500 }).catch(() => {});
  await page
    .locator('#red-ui-tab-debug-link-button')
    .click({ timeout: 2000 })
    .catch(() => {});
  await page.waitForTimeout(12_000);
  await shoot(1);
  await page.locator('.red-ui-flow-node-label:has-text("read the gauge")').first().dblclick({ force: true });
  await page.waitForTimeout(2500);
  await shoot(2);
}
