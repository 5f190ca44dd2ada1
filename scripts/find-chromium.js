/** Finds Chromium for browser tests, benchmarks and icons. As root on Debian, installs it if necessary. */
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

// The headless shell comes first, because browser tests take a quarter less CPU time with it.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const MACOS_PATHS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Returns the path of an installed Chromium, or undefined. CHROMIUM_PATH takes precedence over PATH. */
function findChromium() {
  const onPath = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [process.env.CHROMIUM_PATH, ...onPath, ...MACOS_PATHS].find((path) => path && isExecutable(path));
}

/** Returns the path of Chromium, and installs it if necessary. Returns undefined if it cannot be installed. */
export function provideChromium() {
  return findChromium() ?? installChromium();
}

/**
 * Returns the path of Chromium. If it is not available, prints instructions and exits.
 * @returns {string}
 */
export function requireChromium() {
  return provideChromium() ?? giveUp();
}

function installChromium() {
  const isDebianRoot = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (!isDebianRoot) return undefined;
  console.log('Installing Chromium …');
  try {
    const options = {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    };
    execFileSync('apt-get', ['update', '-qq'], options);
    // Older Debian releases have no separate package for the headless shell.
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
    'Cannot find Chromium. Install it (Debian: apt-get install chromium), or set CHROMIUM_PATH to its path.',
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
