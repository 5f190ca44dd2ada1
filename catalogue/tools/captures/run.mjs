// Captures tools that run their own server: node captures/run.mjs [node-red] [jupyter] [django] [playwright].
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchBrowser, pictureSize } from '../lib/browser.mjs';
import { django } from './django.mjs';
import { jupyter } from './jupyter.mjs';
import { nodeRed } from './node-red.mjs';
import { playwright } from './playwright.mjs';

const all = { 'node-red': nodeRed, jupyter, django, playwright };
const toolsFolder = fileURLToPath(new URL('../', import.meta.url));
const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

async function reachable(url) {
  for (let attempt = 0; attempt < 120; attempt++) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`${url} did not respond within a minute`);
}

const wanted = process.argv.slice(2);
const browser = await launchBrowser();
for (const [id, capture] of Object.entries(all)) {
  if (wanted.length > 0 && !wanted.includes(id)) continue;
  const folder = await mkdtemp(join(tmpdir(), `${id}-`));
  const port = await freePort();
  let child;
  const start = (command, args, options = {}) => {
    child = spawn(command, args, {
      cwd: folder,
      stdio: 'ignore',
      env: { ...process.env, HOME: folder, ...options.env },
    });
    return reachable(`http://127.0.0.1:${port}/`);
  };
  const page = await browser.newPage({ viewport: pictureSize });
  const shoot = (number) => page.screenshot({ path: join(toolsFolder, `recordings/${id}-${number}.png`) });
  try {
    await capture({ folder, port, origin: `http://127.0.0.1:${port}`, start, page, shoot, toolsFolder });
    console.log(`captured ${id}`);
  } catch (error) {
    console.error(`${id}: ${error.message}`);
    await page.screenshot({ path: join(tmpdir(), `${id}-failed.png`) });
  }
  await page.close();
  child?.kill('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 500));
  await rm(folder, { recursive: true, force: true });
}
await browser.close();
