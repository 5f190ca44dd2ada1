import { seededRandom } from './catalogue.mjs';
import { letteringPath } from './lettering.mjs';

/** Background colours on which white letters have a contrast of at least 4.5:1. */
const grounds = [
  '#0f5f73',
  '#1d5b9b',
  '#5a3fa0',
  '#8a2f6b',
  '#a3352f',
  '#8a4b0f',
  '#3f6212',
  '#166046',
  '#334a63',
  '#6b3fa0',
  '#9d2b55',
  '#0b6068',
];

/** Returns an avatar with the initials, which may be cropped to a circle. Its colour depends only on the name. */
export function avatarSvg(name) {
  const words = name.split(/[\s-]+/).filter((word) => /^\p{L}/u.test(word));
  const initials = (words.length > 1 ? words[0][0] + words.at(-1)[0] : words[0].slice(0, 1)).toUpperCase();
  const random = seededRandom(name);
  const ground = grounds[Math.floor(random() * grounds.length)];
  const lift = Math.round(60 + random() * 24);
  const letters = letteringPath(initials, { x: 48, y: 48, size: 35, fill: '#fff' });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" width="96" height="96"><title>${name}</title><path fill="${ground}" d="M0 0h96v96H0z"/><path fill="#000" opacity=".14" d="M0 ${lift}c16-10 32-10 48-2s32 8 48-4v42H0z"/>${letters}</svg>\n`;
}

/** The avatar of visitors: head and shoulders above a wave. */
export const defaultAvatarSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" width="96" height="96"><title>Visitor</title><path fill="#d5e6ea" d="M0 0h96v96H0z"/><circle cx="48" cy="38" r="16" fill="#46808d"/><path fill="#46808d" d="M18 96c0-22 13-34 30-34s30 12 30 34z"/><path fill="#2b6270" d="M0 82c16-9 32-9 48-2s32 7 48-3v19H0z"/></svg>\n`;

/** The image of products without one. */
export const placeholderSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 256 256" width="256" height="256"><title>Product</title><defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop stop-color="#e9f2f4"/><stop offset="1" stop-color="#cfe3e8"/></linearGradient><clipPath id="tile"><rect width="256" height="256" rx="56"/></clipPath></defs><g clip-path="url(#tile)"><path fill="url(#sky)" d="M0 0h256v256H0z"/><circle cx="186" cy="76" r="24" fill="#f4b58a"/><path fill="#9cc6cf" d="M0 168c36-8 62-66 108-66 40 0 44 38 22 42 44 14 84-22 126-14v126H0z"/><path fill="#5a9aa8" d="M0 190c40-22 78-22 118-6s90 18 138-10v82H0z"/><path fill="#2b6270" d="M0 222c44-16 84-12 128-2s86 8 128-10v46H0z"/></g></svg>\n`;
