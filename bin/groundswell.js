#!/usr/bin/env node
/**
 * The operator's command. In a checkout, it first builds the site if needed; the Docker image contains only the build.
 */
import { existsSync } from 'node:fs';

const NEEDED = [20, 19];
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  console.error(`groundswell: Node.js ${NEEDED.join('.')} or newer is needed; this is ${process.versions.node}`);
  process.exit(2);
}

// In development mode, React and other packages would be several times slower, and their builds larger.
process.env.NODE_ENV = 'production';

if (
  !existsSync(new URL('../node_modules', import.meta.url)) &&
  existsSync(new URL('../package-lock.json', import.meta.url))
) {
  console.error('groundswell: the npm packages are not installed. Run npm ci first.');
  process.exit(2);
}

if (existsSync(new URL('../src', import.meta.url))) {
  const { buildIfStale } = await import('../scripts/build.js');
  await buildIfStale();
}
await import('../dist/server/cli.js');
