/** Finds the Chromium that the browser tests drive. As root on Debian, it installs one. */
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

// The headless shell has no windows, which costs the browser tests a quarter less processor time.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const MACOS_PATHS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The path of a Chromium, or undefined. CHROMIUM_PATH overrides it. */
export function findChromium() {
  const onPath = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [process.env.CHROMIUM_PATH, ...onPath, ...MACOS_PATHS].find((path) => path && isExecutable(path));
}

/** The path of a Chromium, installed if needed; undefined if none can be installed. */
export function provideChromium() {
  return findChromium() ?? installChromium();
}

/**
 * The path of a Chromium. Without one, prints what to do and ends the process.
 * @returns {string}
 */
export function requireChromium() {
  return provideChromium() ?? giveUp();
}

function installChromium() {
  const isDebianRoot = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (!isDebianRoot) return undefined;
  console.log('Installing Chromium for the browser tests …');
  try {
    const options = {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    };
    execFileSync('apt-get', ['update', '-qq'], options);
    // Older releases do not package the shell separately.
    for (const name of NAMES.slice(0, 2)) {
      if (!findChromium()) spawnSync('apt-get', ['install', '-y', '-qq', name], options);
    }
  } catch {
    return undefined;
  }
  return findChromium();
}

/** @returns {never} */
function giveUp() {
  console.error(
    'The browser tests need Chromium: install it (Debian: apt-get install chromium), or set CHROMIUM_PATH.',
  );
  process.exit(1);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
