#!/usr/bin/env node
/**
 * The operator's command. In a checkout, it first builds the site if needed; the Docker image contains only the build.
 */
import { existsSync } from 'node:fs';

// The versions that can run Vite, which builds the site.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (!((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22)) {
  console.error(`groundswell: Node.js ${process.versions.node} is not supported. Install Node.js 20.19+ or 22.12+.`);
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
