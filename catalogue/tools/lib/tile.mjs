import { logoMarkup } from './logo.mjs';

/** Draws a product's tile: a rounded square with waves along the bottom and the logo in the middle. */
export function tileSvg(product) {
  const { colors, ink = '#fff', logo } = product.tile;
  const [from, to] = colors;
  const pale = luminance(from) > 0.6;
  const wave = pale ? to : '#fff';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 256 256" width="256" height="256"><title>${product.name}</title>`,
    `<defs><linearGradient id="ground" x1="0" y1="0" x2=".55" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient>`,
    `<clipPath id="tile"><rect width="256" height="256" rx="56"/></clipPath></defs>`,
    `<g clip-path="url(#tile)"><path fill="url(#ground)" d="M0 0h256v256H0z"/>`,
    `<path fill="${wave}" opacity="${pale ? 0.5 : 0.09}" d="M0 196c42-30 84-30 128-8s86 22 128-10v78H0z"/>`,
    `<path fill="${wave}" opacity="${pale ? 0.6 : 0.08}" d="M0 226c46-18 88-14 130-2s84 8 126-14v46H0z"/></g>`,
    logoMarkup(logo, ink),
    `<rect x="1" y="1" width="254" height="254" rx="55" fill="none" stroke="${pale ? '#0b2a3c' : '#fff'}" stroke-opacity=".14" stroke-width="2"/></svg>\n`,
  ].join('');
}

function luminance(hex) {
  const channels = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  const [r, g, b] = channels.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
