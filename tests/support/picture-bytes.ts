import { constants, crc32, deflateRawSync } from 'node:zlib';

// This file builds pictures byte by byte, because encoders refuse to write most pictures that attackers send.

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))]);
}

interface PngHeader {
  width: number;
  height: number;
  bitDepth?: number;
  /** 0 is greyscale, 2 RGB, 3 palette, and 6 RGB with alpha. */
  colorType?: number;
}

export function pngHeader({ width, height, bitDepth = 8, colorType = 0 }: PngHeader): Buffer {
  const data = Buffer.concat([uint32(width), uint32(height), Buffer.from([bitDepth, colorType, 0, 0, 0])]);
  return Buffer.concat([PNG_SIGNATURE, pngChunk('IHDR', data)]);
}

/** Builds a PNG, which is black if no `pixels` are given. `chunks` come before the pixels. */
export function buildPng(header: PngHeader, { chunks = [] as Buffer[], pixels = blackPixels(header) } = {}): Buffer {
  return Buffer.concat([pngHeader(header), ...chunks, pngChunk('IDAT', pixels), pngChunk('IEND', Buffer.alloc(0))]);
}

const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 3: 1, 6: 4 };

/** Returns compressed zeros, because each row begins with its filter number, which is also 0. */
export function blackPixels({ width, height, bitDepth = 8, colorType = 0 }: PngHeader): Buffer {
  const rowBytes = 1 + Math.ceil((width * bitDepth * (CHANNELS[colorType] ?? 1)) / 8);
  return deflatedZeros(rowBytes * height);
}

const BLOCK_BYTES = 4_000_000;

/** Returns zeros in zlib format, even a gigabyte. Repeats the same compressed block, which is fast. */
export function deflatedZeros(bytes: number): Buffer {
  const block = (size: number) => deflateRawSync(Buffer.alloc(size), { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  const blocks = Array<Buffer>(Math.floor(bytes / BLOCK_BYTES)).fill(block(Math.min(bytes, BLOCK_BYTES)));
  const header = Buffer.from([0x78, 0xda]);
  // The Adler-32 checksum. For zeros, its lower half remains 1, which is added to its upper half for each byte.
  const checksum = uint32((bytes % 65_521) * 65_536 + 1);
  return Buffer.concat([header, ...blocks, block(bytes % BLOCK_BYTES), deflateRawSync(''), checksum]);
}

/** Builds an animated PNG of identical frames. The first is also the default image. */
export function buildApng(frames: number): Buffer {
  const header = { width: 2, height: 2 };
  const control = (sequence: number) =>
    pngChunk(
      'fcTL',
      Buffer.concat([uint32(sequence), uint32(2), uint32(2), Buffer.alloc(8), Buffer.from([0, 1, 0, 10, 0, 0])]),
    );
  const later = Array.from({ length: frames - 1 }, (_, index) =>
    Buffer.concat([
      control(index * 2 + 1),
      pngChunk('fdAT', Buffer.concat([uint32(index * 2 + 2), blackPixels(header)])),
    ]),
  );
  return Buffer.concat([
    pngHeader(header),
    pngChunk('acTL', Buffer.concat([uint32(frames), uint32(0)])),
    control(0),
    pngChunk('IDAT', blackPixels(header)),
    ...later,
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Builds a GIF with frames that declare these dimensions but contain one pixel. */
export function buildGif({ width, height, frames = 1 }: { width: number; height: number; frames?: number }): Buffer {
  const size = Buffer.concat([uint16(width), uint16(height)]);
  const screen = Buffer.concat([Buffer.from('GIF89a', 'latin1'), size, Buffer.from([0x80, 0, 0])]);
  const palette = Buffer.from([0, 0, 0, 0xff, 0xff, 0xff]);
  const delay = Buffer.from([0x21, 0xf9, 4, 0, 5, 0, 0, 0]);
  const pixels = Buffer.from([0, 2, 2, 0x4c, 0x01, 0]);
  const frame = Buffer.concat([delay, Buffer.from([0x2c]), uint16(0), uint16(0), size, pixels]);
  return Buffer.concat([screen, palette, ...Array<Buffer>(frames).fill(frame), Buffer.from([0x3b])]);
}

function riffChunk(type: string, data: Buffer): Buffer {
  const padding = Buffer.alloc(data.length % 2);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(data.length);
  return Buffer.concat([Buffer.from(type, 'latin1'), size, data, padding]);
}

export function buildWebp(...chunks: Buffer[]): Buffer {
  return riffChunk('RIFF', Buffer.concat([Buffer.from('WEBP', 'latin1'), ...chunks]));
}

/** Replaces the dimensions of a lossless WebP, which uses 14 bits for each. */
export function withWebpSize(webp: Buffer, width: number, height: number): Buffer {
  const changed = Buffer.from(webp);
  const header = changed.indexOf('VP8L', 0, 'latin1');
  if (header < 0) throw new Error('The WebP is not lossless');
  const upper = changed.readUInt32LE(header + 9) & 0xf0000000;
  changed.writeUInt32LE(((width - 1) | ((height - 1) << 14) | upper) >>> 0, header + 9);
  return changed;
}

/** Builds the header of an extended WebP, which can declare up to 16,777,216 pixels on each side. */
export function webpCanvas(width: number, height: number, { animated = false } = {}): Buffer {
  const data = Buffer.alloc(10);
  data.writeUInt8(animated ? 2 : 0, 0);
  data.writeUIntLE(width - 1, 4, 3);
  data.writeUIntLE(height - 1, 7, 3);
  return riffChunk('VP8X', data);
}

/** Replaces the dimensions in the frame header of a JPEG. */
export function withJpegSize(jpeg: Buffer, width: number, height: number): Buffer {
  const changed = Buffer.from(jpeg);
  const frame = [0xc0, 0xc2].map((marker) => changed.indexOf(Buffer.from([0xff, marker, 0]))).find((at) => at > 0);
  if (frame === undefined) throw new Error('The JPEG has no frame header');
  changed.writeUInt16BE(height, frame + 5);
  changed.writeUInt16BE(width, frame + 7);
  return changed;
}

/** Replaces the dimensions that the container of an AVIF declares. */
export function withAvifSize(avif: Buffer, width: number, height: number): Buffer {
  const changed = Buffer.from(avif);
  const box = changed.indexOf('ispe', 0, 'latin1');
  if (box < 0) throw new Error('The AVIF declares no dimensions');
  changed.writeUInt32BE(width, box + 8);
  changed.writeUInt32BE(height, box + 12);
  return changed;
}

/** An empty ZIP archive, which consists only of the end-of-central-directory record. */
export const ZIP = Buffer.concat([Buffer.from('PK\x05\x06', 'latin1'), Buffer.alloc(18)]);

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}
