import { createRequire } from 'node:module';
import * as simpleIcons from 'simple-icons';
import { letteringPath } from './lettering.mjs';

const require = createRequire(import.meta.url);
const logos = require('@iconify-json/logos/icons.json');

/**
 * Returns the SVG of a product's logo, centred on a tile of 256 × 256. `source` is "simple:<slug>" or "logos:<name>",
 * whose sets are under CC0, or "monogram:<letters>" if neither set has the logo.
 */
export function logoMarkup(source, ink) {
  const [set, name] = source.split(/:(.*)/);
  if (set === 'simple') {
    const key = `si${name[0].toUpperCase()}${name.slice(1)}`;
    const icon = simpleIcons[key];
    if (!icon) throw new Error(`simple-icons has no ${name}`);
    return `<path fill="${ink}" transform="translate(62 62) scale(5.5)" d="${icon.path}"/>`;
  }
  if (set === 'logos') {
    const icon = logos.icons[name];
    if (!icon) throw new Error(`@iconify-json/logos has no ${name}`);
    const width = icon.width ?? logos.width ?? 256;
    const height = icon.height ?? logos.height ?? 256;
    const scale = 144 / Math.max(width, height);
    const [x, y] = [(256 - width * scale) / 2, (256 - height * scale) / 2];
    const place = `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${scale.toFixed(4)})`;
    return `<g transform="${place}">${icon.body}</g>`;
  }
  const size = { 1: 138, 2: 112, 3: 88 }[[...name].length] ?? 72;
  return letteringPath(name, { x: 128, y: 128, size, fill: ink });
}
