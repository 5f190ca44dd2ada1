import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { FOLDERS } from '../contract/paths/folders.ts';

/** A validated picture. Its URL path changes with its content. */
export interface Logo {
  bytes: Buffer;
  mediaType: 'image/png' | 'image/svg+xml' | 'image/webp';
  /** The URL path: `/brand/HASH.EXTENSION`. */
  address: string;
  /** The `sizes` value in the web app manifest: `512x512`, or `any`. */
  sizes: string;
}

const MAX_SIDE_PIXELS = 1_024;

/** Validates the content of a logo; the file's name does not matter. @throws Error with a one-line reason. */
export function readLogo(bytes: Buffer, path: string): Logo {
  const refuse = (reason: string): never => {
    throw new Error(`${path} ${reason}`);
  };
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  const describe = (mediaType: Logo['mediaType'], extension: string, sizes: string): Logo => ({
    bytes,
    mediaType,
    sizes,
    address: `${FOLDERS.brand}${hash}.${extension}`,
  });
  if (bytes.length === 0) return refuse('is empty');
  for (const { name, extension, mediaType, matches, measure } of RASTERS) {
    if (!matches(bytes)) continue;
    const size = measure(bytes) ?? refuse(`is a damaged ${name} picture; save it again`);
    const [width, height] = size;
    if (Math.max(width, height) > MAX_SIDE_PIXELS) {
      return refuse(`has ${width}×${height} pixels; at most ${MAX_SIDE_PIXELS}×${MAX_SIDE_PIXELS} are allowed`);
    }
    return describe(mediaType, extension, `${width}x${height}`);
  }
  const error = errorInSvg(bytes);
  return error === undefined ? describe('image/svg+xml', 'svg', 'any') : refuse(error);
}

type Size = readonly [width: number, height: number];

const RASTERS = [
  {
    name: 'PNG',
    extension: 'png',
    mediaType: 'image/png',
    matches: (bytes: Buffer) => bytes.subarray(0, 8).equals(PNG_SIGNATURE),
    measure: measurePng,
  },
  {
    name: 'WebP',
    extension: 'webp',
    mediaType: 'image/webp',
    matches: (bytes: Buffer) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP',
    measure: measureWebp,
  },
] as const;

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** Reads the size and checks the CRC of each chunk. @returns undefined if the file is truncated or corrupt. */
function measurePng(bytes: Buffer): Size | undefined {
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  for (let at = PNG_SIGNATURE.length; at + 12 <= bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    if (end + 4 > bytes.length || crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) return undefined;
    if (bytes.toString('latin1', at + 4, at + 8) === 'IEND') {
      return sizeOf(bytes.readUInt32BE(16), bytes.readUInt32BE(20));
    }
    at = end + 4;
  }
  return undefined;
}

/** Reads the size from a lossy, lossless or extended header. @returns undefined if the header is invalid. */
function measureWebp(bytes: Buffer): Size | undefined {
  if (bytes.length < 30 || bytes.readUInt32LE(4) + 8 !== bytes.length) return undefined;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return sizeOf(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff);
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21);
      return sizeOf((packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1);
    }
    case 'VP8X':
      return sizeOf(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1);
    default:
      return undefined;
  }
}

const sizeOf = (width: number, height: number): Size | undefined =>
  width > 0 && height > 0 ? [width, height] : undefined;

/**
 * Returns the reason for rejecting an SVG, or undefined if it is accepted. Scripts in an SVG do not run in `<img>`, but
 * run if the file is opened directly.
 */
function errorInSvg(bytes: Buffer): string | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return NOT_A_PICTURE;
  }
  const content = text
    .replace(/^\s*<\?xml[^>]*\?>/, '')
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .trim();
  if (/^<!DOCTYPE/i.test(content) && !/^<!DOCTYPE\s+svg\b/i.test(content)) return NOT_A_PICTURE;
  if (/<!(?:DOCTYPE|ENTITY)/i.test(content)) return 'has a document type; save it as plain SVG without one';
  const [root] = /^<svg\b[^>]*>/.exec(content) ?? [];
  if (root === undefined) return NOT_A_PICTURE;
  if (!content.endsWith('</svg>')) return 'is a damaged SVG picture; it must end with </svg>';
  if (!/\sxmlns\s*=\s*["']http:\/\/www\.w3\.org\/2000\/svg["']/.test(root)) {
    return 'is an SVG picture without xmlns="http://www.w3.org/2000/svg", which browsers need';
  }
  if (/<(?:script|foreignObject)\b|\son\w+\s*=/i.test(content))
    return 'contains scripts, event handlers or <foreignObject>; remove them';
  // An SVG in `<img>` cannot load other files, so a part of the picture would be missing.
  const references = [...content.matchAll(/\b(?:href|src)\s*=\s*["']([^"']*)|url\(\s*["']?([^"')]*)/gi)];
  const isExternal = ([, attribute, style]: RegExpMatchArray) =>
    !/^\s*(?:#|data:image\/)/i.test(attribute ?? style ?? '');
  if (references.some(isExternal) || /@import/i.test(content)) {
    return 'refers to other files, which browsers would not load; embed them';
  }
  return undefined;
}

const NOT_A_PICTURE = 'is not a PNG, SVG or WebP picture';
