import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';

const run = promisify(execFile);
const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
const software = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'];

/** Starts the system's Chromium without a window. WebGL is drawn in software. */
export function launchBrowser() {
  const args = [...quiet, ...software, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
}

export const pictureSize = { width: 1280, height: 800 };
const maxBytes = 62_000;

/** Converts a PNG to WebP, at the best quality whose file is at most `limit` bytes, or at the lowest if none is. */
export async function writeWebp(png, target, { limit = maxBytes } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'shot-'));
  const source = join(folder, 'shot.png');
  await writeFile(source, png);
  for (const quality of [86, 80, 74, 66, 58, 48, 38]) {
    await run('cwebp', ['-quiet', '-m', '6', '-sharp_yuv', '-q', String(quality), source, '-o', target]);
    if ((await stat(target)).size <= limit) break;
  }
  await rm(folder, { recursive: true });
}
