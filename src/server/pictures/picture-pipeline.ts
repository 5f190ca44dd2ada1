import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PICTURE_UPLOADS, type PictureMediaType, type PictureUse } from '../../contract/products/picture-uploads.ts';
import { CoreError } from '../../core/core-error.ts';
import { type MeasureDisk, measureDisk } from '../../core/file-system.ts';
import {
  makePictureFolder,
  type PictureKind,
  type PicturePipeline,
  pictureAddress,
  pictureKindOf,
  pictureName,
  storePicture,
  type UploadedPicture,
} from '../../core/pictures/picture-store.ts';
import type { Log } from '../../core/runtime.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import { createTaskProcess, TaskError } from '../task-process/task-process.ts';
import { createFairQueue, type FairQueueLimits } from './fair-queue.ts';
import type { PictureTask, ProcessedPicture } from './worker/process-picture.ts';

/** A pipeline with its child process. */
export interface PictureProcessor extends PicturePipeline {
  /** Finishes the picture that is being processed, and refuses all others as `overloaded`. */
  stopQueueing(): void;
  close(): Promise<void>;
}

export interface PictureProcessorOptions {
  log: Pick<Log, 'info' | 'warn'>;
  /** The folder of the site's own pictures. */
  folder: string;
  workerFile?: string;
  queue?: FairQueueLimits;
  /** If false, one sender may occupy all slots. */
  isLimitedPerSender?: boolean;
  timeoutMs?: number;
  idleMs?: number;
  measureDisk?: MeasureDisk;
}

/**
 * Each slot may hold a picture of 5 MiB, so these bounds limit the memory of waiting pictures to 120 MiB. A slow upload
 * may lose its slot, so a few networks cannot occupy all slots.
 */
const QUEUE_LIMITS: FairQueueLimits = { maxSlots: 24, maxSlotsPerSender: 8, protectedMs: 10_000 };

/** The free space that pictures leave to the database: 1 GiB, or a tenth of a disk of less than 10 GiB. */
const RESERVED_BYTES = 2 ** 30;
const RESERVED_SHARE = 0.1;

/** An AVIF of 40 megapixels takes 2 to 4 seconds on an idle core, and longer on a busy machine. */
const TIMEOUT_MS = 30_000;

/** The program of the picture worker: the TypeScript source in development, otherwise the built file. */
export const PICTURE_WORKER_FILE = import.meta.url.endsWith('.ts')
  ? fileURLToPath(new URL('./worker/picture-worker.ts', import.meta.url))
  : join(PACKAGE_FOLDERS.server, 'picture-worker.js');

const SHAPES = {
  image: { shape: 'square', sidePixels: PICTURE_UPLOADS.imagePixels },
  screenshot: { shape: 'fit', sidePixels: PICTURE_UPLOADS.screenshotPixels },
} as const satisfies Record<PictureUse, Pick<PictureTask, 'shape' | 'sidePixels'>>;

const FORMATS = {
  'image/png': { kind: 'png', name: 'PNG' },
  'image/jpeg': { kind: 'jpg', name: 'JPEG' },
  'image/webp': { kind: 'webp', name: 'WebP' },
  'image/avif': { kind: 'avif', name: 'AVIF' },
  'image/gif': { kind: 'gif', name: 'GIF' },
} as const satisfies Record<PictureMediaType, { kind: PictureKind; name: string }>;

export function createPictureProcessor(options: PictureProcessorOptions): PictureProcessor {
  const { log, folder, workerFile = PICTURE_WORKER_FILE, queue: limits = QUEUE_LIMITS } = options;
  const { timeoutMs = TIMEOUT_MS, idleMs, isLimitedPerSender = true } = options;
  const queue = createFairQueue(isLimitedPerSender ? limits : { ...limits, maxSlotsPerSender: limits.maxSlots });
  let isStopping = false;
  const process = createTaskProcess<PictureTask, ProcessedPicture>({
    name: 'picture-worker',
    log,
    file: workerFile,
    timeoutMs,
    ...(idleMs !== undefined && { idleMs }),
    // With fewer malloc arenas, freed memory returns to the system sooner.
    environment: { MALLOC_ARENA_MAX: '2' },
    describe: ({ kind, bytes, shape }) => ({ picture: { kind, bytes: bytes.length, shape } }),
  });

  async function toWebp(task: PictureTask): Promise<Buffer> {
    if (isStopping) throw siteStops();
    const processed = await process.run(task).catch((error: unknown) => {
      throw error instanceof TaskError ? explain(error) : error;
    });
    if (processed.kind === 'refused') throw new CoreError('picture_unusable', processed.reason);
    const { buffer, byteOffset, byteLength } = processed.webp;
    return Buffer.from(buffer, byteOffset, byteLength);
  }

  return {
    requireDiskSpace: createDiskSpaceCheck(folder, log, options.measureDisk),
    admit(sender, onLost) {
      const slot = queue.enter(sender, onLost);
      if (slot === undefined) throw tooManyPictures();
      return {
        async process(picture, signal) {
          const { maxPixels, maxSidePixels } = PICTURE_UPLOADS;
          const shape = SHAPES[picture.use];
          const task = { bytes: picture.bytes, kind: kindOf(picture), maxPixels, maxSidePixels, ...shape };
          const webp = await slot.run(() => toWebp(task), signal);
          const name = pictureName(webp, 'webp');
          await storePicture(folder, name, webp);
          return pictureAddress(name);
        },
        release: slot.release,
      };
    },
    stopQueueing() {
      isStopping = true;
    },
    close: process.close,
  };
}

/**
 * Returns a function that checks whether the disk of a folder has free space for pictures. While there is too little,
 * the function throws CoreError `overloaded`. It logs when the space becomes too little and when it suffices again.
 */
export function createDiskSpaceCheck(
  folder: string,
  log: Pick<Log, 'info' | 'warn'>,
  measure: MeasureDisk = measureDisk,
): () => Promise<void> {
  let wasFull = false;
  return async () => {
    // The folder does not exist before the first picture.
    await makePictureFolder(folder);
    // Some file systems cannot be measured, or report a size of 0.
    const { free, all } = await measure(folder).catch(() => ({ free: 0, all: 0 }));
    const isFull = free < Math.min(RESERVED_BYTES, all * RESERVED_SHARE);
    if (isFull && !wasFull) {
      log.warn(
        { folder, freeBytes: free },
        'The disk is nearly full; rejecting pictures. Free some space, or move DATA_DIR to a larger disk while the site is stopped.',
      );
    } else if (wasFull && !isFull) log.info({ folder, freeBytes: free }, 'The disk has free space for pictures again');
    wasFull = isFull;
    if (isFull) throw new CoreError('overloaded', 'Pictures cannot be stored at present. Please try again later.');
  };
}

/**
 * Returns the format of an uploaded picture.
 * @throws CoreError if the picture is empty, unsupported, or not of the declared type.
 */
function kindOf({ bytes, declaredType }: UploadedPicture): PictureTask['kind'] {
  if (bytes.length === 0) throw new CoreError('picture_unusable', 'The file is empty. Please choose another one.');
  const declared = FORMATS[declaredType];
  const found = pictureKindOf(bytes);
  const actual = Object.values(FORMATS).find(({ kind }) => kind === found);
  if (actual === undefined) {
    const description = found === 'svg' ? 'an SVG' : 'not a picture of a supported type';
    throw new CoreError(
      'unsupported_media_type',
      `The file is ${description}. Please send a PNG, JPEG, WebP, AVIF or GIF.`,
    );
  }
  if (declared !== actual) {
    const what = `${actual === FORMATS['image/avif'] ? 'an' : 'a'} ${actual.name}`;
    const saved = `Please save it as ${declared.name}, or send it as ${actual.name}.`;
    throw new CoreError('unsupported_media_type', `The file is ${what}, but was sent as ${declared.name}. ${saved}`);
  }
  return actual.kind;
}

function explain({ kind }: TaskError): CoreError {
  switch (kind) {
    case 'failed':
      return new CoreError(
        'picture_unusable',
        'The picture cannot be decoded. It may need too much time or memory; please send a smaller one.',
      );
    case 'unavailable':
      return new CoreError('overloaded', 'Pictures cannot be processed at present. Please try again later.');
    case 'busy':
      return tooManyPictures();
    case 'closed':
      return siteStops();
  }
}

const siteStops = () =>
  new CoreError('overloaded', 'The site is stopping or restarting. Please send the picture again in a moment.');

const tooManyPictures = () =>
  new CoreError('overloaded', 'Too many pictures are being processed. Please try again in a moment.');
