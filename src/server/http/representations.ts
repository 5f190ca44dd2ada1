import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import type { Encoding } from './accept-encoding.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Below this, compression saves less than a packet. */
const MIN_COMPRESSED_BYTES = 1_024;

/** Brotli's best price for pages that live for seconds to hours: a fifth smaller than gzip, for about its time. */
const BROTLI_QUALITY = 5;

/**
 * Up to this, compressing takes less of this thread's time than handing it to another thread does (0.4 against 0.5 ms for the
 * page of a product), and none of the other's.
 */
const MAX_INLINE_BYTES = 64 * 1_024;

/** Of objects around the bytes: an estimate. */
const OVERHEAD_BYTES = 4_096;

/** One version of an answer, in each encoding that somebody asked for. */
export class Representations {
  readonly #identity: Buffer;
  readonly #hash: string;
  readonly #encoded = new Map<Encoding, Buffer | Promise<Buffer>>();

  constructor(body: string) {
    this.#identity = Buffer.from(body);
    this.#hash = createHash('sha256').update(this.#identity).digest('base64url').slice(0, 22);
    this.#encoded.set('identity', this.#identity);
  }

  /** The encoding to send to a client that prefers `wished`: small answers go out as they are. */
  encodingFor(wished: Encoding): Encoding {
    return this.#identity.length < MIN_COMPRESSED_BYTES ? 'identity' : wished;
  }

  /** The strong validator of this version in this encoding; known before anything is compressed. */
  tag(encoding: Encoding): string {
    return `"${this.#hash}-${encoding}"`;
  }

  /** The bytes; compressed once, however many ask at once. */
  bytes(encoding: Encoding): Buffer | Promise<Buffer> {
    const known = this.#encoded.get(encoding);
    if (known !== undefined) return known;
    if (this.#identity.length <= MAX_INLINE_BYTES) {
      const bytes = trimmed(compressInline(this.#identity, encoding));
      this.#encoded.set(encoding, bytes);
      return bytes;
    }
    const compressing = compress(this.#identity, encoding).then((compressed) => {
      const bytes = trimmed(compressed);
      this.#encoded.set(encoding, bytes);
      return bytes;
    });
    this.#encoded.set(encoding, compressing);
    return compressing;
  }

  /** What this version may come to hold: a compressed copy is rarely more than a quarter of the text, and there are two. */
  get sizeBytes(): number {
    return Math.ceil(this.#identity.length * 1.5) + OVERHEAD_BYTES;
  }
}

/** What is kept must not hold the whole buffer that zlib wrote into, which is several times as long. */
function trimmed(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

function compressInline(bytes: Buffer, encoding: Encoding): Buffer {
  return encoding === 'gzip' ? gzipSync(bytes) : brotliCompressSync(bytes, brotliOptions(bytes));
}

function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === 'gzip' ? compressGzip(bytes) : compressBrotli(bytes, brotliOptions(bytes));
}

/** Told the size, brotli clears tables for so much, and not those for a file of any length. */
function brotliOptions(bytes: Buffer) {
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_SIZE_HINT: sizeHint } = constants;
  return { params: { [quality]: BROTLI_QUALITY, [sizeHint]: bytes.length } };
}
