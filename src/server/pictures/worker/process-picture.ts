import type { Metadata, Sharp } from 'sharp';
import sharp from 'sharp';

export interface PictureTask {
  bytes: Uint8Array;
  /** The format that the first bytes indicate. */
  kind: 'png' | 'jpg' | 'webp' | 'avif' | 'gif';
  maxPixels: number;
  maxSidePixels: number;
  /**
   * `square` crops and scales the picture to `sidePixels`²; `fit` only reduces it until no side is longer than
   * `sidePixels`.
   */
  shape: 'square' | 'fit';
  sidePixels: number;
}

export type ProcessedPicture = { kind: 'processed'; webp: Uint8Array } | { kind: 'refused'; reason: string };

/** The names that sharp gives to the formats. */
const FORMATS = { png: 'png', jpg: 'jpeg', webp: 'webp', avif: 'heif', gif: 'gif' } as const;

const WEBP = { quality: 82, effort: 4, smartSubsample: true } as const;

const DAMAGED = 'The picture is damaged or incomplete. Please save it again and send the new file.';

// sharp decodes each picture in one thread, without a cache.
sharp.concurrency(1);
sharp.cache(false);
// Allows only the decoders of the accepted formats, so no SVG, TIFF or PDF is decoded.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Heif', 'Nsgif'].map((format) => `VipsForeignLoad${format}Buffer`),
});

/**
 * Decodes the first frame, turns it upright, scales it, and encodes it as WebP in sRGB with 8 bits, without metadata.
 */
export async function processPicture(task: PictureTask): Promise<ProcessedPicture> {
  const bytes = Buffer.from(task.bytes.buffer, task.bytes.byteOffset, task.bytes.byteLength);
  const foreign = foreignContentOf(bytes);
  if (foreign !== undefined)
    return refuse(`The file is also ${foreign}. Please save the picture again and send the new file.`);
  try {
    const picture = sharp(bytes, {
      limitInputPixels: task.maxPixels,
      failOn: 'error',
      sequentialRead: true,
      autoOrient: true,
    });
    const error = errorIn(await picture.metadata(), task);
    if (error !== undefined) return refuse(error);
    return { kind: 'processed', webp: await scale(picture, task).webp(WEBP).toBuffer() };
  } catch (error) {
    return refuse(isOfTooManyPixels(error) ? tooManyPixels(task.maxPixels) : DAMAGED);
  }
}

function errorIn({ format, compression, width, height }: Metadata, task: PictureTask): string | undefined {
  if (format !== FORMATS[task.kind] || (task.kind === 'avif' && compression !== 'av1')) return DAMAGED;
  if (width * height > task.maxPixels) return tooManyPixels(task.maxPixels);
  if (Math.max(width, height) > task.maxSidePixels)
    return `A side of the picture is longer than ${task.maxSidePixels.toLocaleString('en')} pixels. Please crop it.`;
  return undefined;
}

function scale(picture: Sharp, { shape, sidePixels }: PictureTask): Sharp {
  const size = { width: sidePixels, height: sidePixels };
  return picture.resize(
    shape === 'square' ? { ...size, fit: 'cover' } : { ...size, fit: 'inside', withoutEnlargement: true },
  );
}

const isOfTooManyPixels = (error: unknown) => error instanceof Error && error.message.includes('exceeds pixel limit');

const tooManyPixels = (maxPixels: number) =>
  `The picture has more than ${maxPixels / 1_000_000} megapixels. Please make it smaller.`;

const refuse = (reason: string): ProcessedPicture => ({ kind: 'refused', reason });

/**
 * Signatures of other formats, which a picture must not contain: another program would open such a file as a page, a
 * script or an archive. Each signature is too long to occur in compressed pixels by chance.
 */
const FOREIGN: readonly { what: string; isIn(text: string): boolean }[] = [
  { what: 'a web page', isIn: (text) => /<!doctype\s+html|<(?:html|head|body|script|iframe)[\s>/]/i.test(text) },
  {
    what: 'a script',
    isIn: (text) => /<\?php\s/i.test(text) || /^(?:GIF8[79]a|\xff\xd8\xff[\xe0-\xfe])\/\*/.test(text),
  },
  // Programs recognize a ZIP archive by the record at its end. The zeros are disk numbers.
  { what: 'a ZIP archive', isIn: (text) => text.includes('PK\x05\x06\0\0\0\0') },
  { what: 'an archive', isIn: (text) => text.includes('Rar!\x1a\x07') || text.includes('7z\xbc\xaf\x27\x1c') },
  { what: 'a PDF document', isIn: (text) => /%PDF-\d/.test(text.slice(0, 1024)) },
];

/** Returns the name of another format that a file also has, or undefined if it is only a picture. */
function foreignContentOf(bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1');
  return FOREIGN.find(({ isIn }) => isIn(text))?.what;
}
