import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { UnreadableFileError } from './import-errors.ts';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const CHUNK_BYTES = 256 * 1024;

/** The path of a file, or an open file, which is read from its beginning and stays open. */
export type FileSource = string | FileHandle;

/**
 * Reads a file as chunks of validated UTF-8, without its byte order mark. A chunk may end within a character.
 * @param onBytes receives the number of bytes read. @throws UnreadableFileError with the line that is not UTF-8.
 */
export async function* readBytes(
  source: FileSource,
  onBytes: (count: number) => void = () => {},
): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  let isFirst = true;
  /** The last bytes of the previous chunk, which may be the start of a character. */
  let tail: Buffer = Buffer.alloc(0);
  for await (const read of chunksOf(source)) {
    onBytes(read.length);
    if (!isDecodable(decoder, read)) throw notUtf8(Buffer.concat([tail, read]), line);
    line += countLineFeeds(read);
    tail = incompleteCharacter(read);
    const hasMark = isFirst && read.subarray(0, 3).equals(BYTE_ORDER_MARK);
    isFirst = false;
    yield hasMark ? read.subarray(3) : read;
  }
  if (!isDecodable(decoder)) throw new UnreadableFileError(line, 'The file ends in the middle of a character');
}

function chunksOf(source: FileSource): AsyncIterable<Buffer> {
  if (typeof source !== 'string') return chunksOfOpenFile(source);
  return createReadStream(source, { highWaterMark: CHUNK_BYTES });
}

/** Reads an open file. A stream is not used, because it would close the file if its consumer stops early. */
async function* chunksOfOpenFile(file: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

export const LINE_FEED = 0x0a;

function isDecodable(decoder: TextDecoder, bytes?: Buffer): boolean {
  try {
    decoder.decode(bytes, { stream: bytes !== undefined });
    return true;
  } catch {
    return false;
  }
}

/**
 * Creates the error for the first invalid line. If all complete lines are valid, this is the last line, which may be
 * incomplete.
 */
function notUtf8(bytes: Buffer, firstLine: number): UnreadableFileError {
  let line = firstLine;
  for (let start = 0; ; line += 1) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) break;
    start = end + 1;
  }
  return new UnreadableFileError(line, 'The file is not UTF-8: save it in that encoding, then try again');
}

/** Returns the last bytes from a lead byte on, which may be an incomplete character: at most three, or none. */
function incompleteCharacter(bytes: Buffer): Buffer {
  const end = bytes.subarray(-3);
  const start = end.findLastIndex((byte) => (byte & 0b1100_0000) === 0b1100_0000);
  return start === -1 ? end.subarray(end.length) : end.subarray(start);
}

function countLineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1;
  return count;
}
