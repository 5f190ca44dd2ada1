/**
 * Renders the icons in public/ from the site's logo: `node scripts/draw-icons.js`. The results are committed, so builds
 * need no browser.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { requireChromium } from './find-chromium.js';

const PUBLIC = fileURLToPath(new URL('../public/', import.meta.url));

/** The logo with rounded corners. */
const MARK = await readFile(join(PUBLIC, 'favicon.svg'), 'utf8');

/** The logo on a full-bleed background, for icons that the system crops to its own shape (maskable icons). */
const fullBleed = (margin) => `<svg xmlns="http://www.w3.org/2000/svg"
  viewBox="${-margin} ${-margin} ${32 + 2 * margin} ${32 + 2 * margin}">
  <rect x="-8" y="-8" width="48" height="48" fill="#0c3b54"/>
  <circle cx="22.5" cy="10" r="4" fill="#ff8a57"/>
  <path d="M-8 20.4c3 .4 5 .6 8 .6 5 0 7-6.500 13-6.500S22 21 32 19c3-.6 5-.8 8-.8V40H-8Z" fill="#2b9c9c"/>
  <path d="M-8 23.900c3 .4 5 .6 8 .6 4.500 0 6-3 10.500-3s6.500 4 11.500 4 7-2 10-2.500c3-.5 5-.6 8-.6V40H-8Z" fill="#c9f0ea"/>
</svg>`;

/** The file name, the size in pixels and the SVG of each icon. The margin of 4 allows masks to crop 10% per side. */
const ICONS = [
  ['icon-192.png', 192, MARK],
  ['icon-512.png', 512, MARK],
  ['icon-maskable-512.png', 512, fullBleed(4)],
  ['apple-touch-icon.png', 180, fullBleed(0)],
];

const browser = await chromium.launch({
  executablePath: requireChromium(),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  const page = await browser.newPage();
  const draw = async (edge, svg) => {
    await page.setViewportSize({ width: edge, height: edge });
    await page.setContent(
      `<style>body{margin:0}svg{display:block;width:${edge}px;height:${edge}px}</style>${svg.replace(/<title>.*?<\/title>/, '')}`,
    );
    return page.screenshot({ omitBackground: true });
  };
  for (const [name, edge, svg] of ICONS) await writeFile(join(PUBLIC, name), await draw(edge, svg));
  await writeFile(join(PUBLIC, 'favicon.ico'), icoOf(await draw(32, MARK), 32));
} finally {
  await browser.close();
}

/** Wraps a PNG image in an .ico file: a header of 6 bytes, one directory entry of 16 bytes, and the image. */
function icoOf(png, edge) {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(1, 4);
  head.writeUInt8(edge, 6);
  head.writeUInt8(edge, 7);
  head.writeUInt16LE(1, 10);
  head.writeUInt16LE(32, 12);
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(head.length, 18);
  return Buffer.concat([head, png]);
}
