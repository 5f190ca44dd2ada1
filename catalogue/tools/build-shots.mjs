// Renders the screenshots of the products whose ids are given, by default of all products, to WebP.
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { launchBrowser, pictureSize, writeWebp } from './lib/browser.mjs';
import { picturesFolder, readProducts } from './lib/catalogue.mjs';
import { framePage } from './lib/frame.mjs';
import { startSceneServer } from './lib/scene-server.mjs';
import { shots } from './shots.mjs';

const wanted = process.argv.slice(2);
const products = await readProducts();
const server = await startSceneServer();
const browser = await launchBrowser();

async function render(product, shot, path) {
  const page = await browser.newPage({ viewport: pictureSize, colorScheme: shot.dark ? 'dark' : 'light' });
  page.on('pageerror', (error) => console.warn(`${path}: ${error.message}`));
  page.on(
    'console',
    (message) =>
      message.type() === 'error' && !/404/.test(message.text()) && console.warn(`${path}: ${message.text()}`),
  );
  let response;
  if (shot.scene?.endsWith('.html')) response = await page.goto(`${server.origin}/${shot.scene}`);
  else if (shot.scene) response = await page.goto(`${server.origin}/scene/${shot.scene}${shot.query ?? ''}`);
  else {
    server.addPage(path, await framePage(product, shot));
    response = await page.goto(server.origin + path);
  }
  if (!response.ok()) throw new Error((await response.text()).slice(0, 400));
  await page.evaluate(() => document.fonts.ready);
  // A slow scene sets `sceneReady` to false until it is done. Then animations get time to finish.
  await page.waitForFunction(() => globalThis.sceneReady !== false, undefined, { timeout: 60_000 });
  await page.waitForTimeout(shot.waitMs ?? (shot.scene ? 1500 : 100));
  if (shot.act) await shot.act(page);
  const png = await page.screenshot();
  await page.close();
  return png;
}

for (const product of products) {
  if (wanted.length > 0 && !wanted.includes(product.id)) continue;
  const folder = new URL(`${product.id}/`, picturesFolder);
  await mkdir(folder, { recursive: true });
  for (const [index, shot] of (shots[product.id] ?? []).entries()) {
    if (shot.capture && !existsSync(new URL(shot.capture, import.meta.url))) continue;
    try {
      const picture = shot.picture ?? shot.capture;
      const png = picture
        ? await readFile(new URL(picture, import.meta.url))
        : await render(product, shot, `/frame/${product.id}-${index + 1}`);
      await writeWebp(png, fileURLToPath(new URL(`shot-${index + 1}.webp`, folder)), shot);
      console.log(`${product.id} ${index + 1}`);
    } catch (error) {
      console.error(`${product.id} ${index + 1} failed: ${error.message}`);
    }
  }
}
await browser.close();
server.close();
