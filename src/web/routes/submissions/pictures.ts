import type { FieldError } from '../../../contract/problem.ts';
import { PRODUCT_FIELDS } from '../../../contract/products/fields.ts';
import { PICTURE_UPLOADS, type PictureUse } from '../../../contract/products/picture-uploads.ts';
import type { Product } from '../../../contract/products/schema.ts';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { reasonOf } from '../../api/http-api.ts';
import { t } from '../../language/translate.ts';
import { randomId } from '../../storage/session.ts';
import { type Failure, type MakerAccess, SubmissionError, submissionsClient } from './submissions-client.ts';

/** A picture in the form: stored on the server, or a file to upload. */
export interface PictureItem {
  key: string;
  /** The URL of the stored picture or of the file's preview, or empty if the file has no preview. */
  src: string;
  /** The file to upload, or undefined if the picture is already stored on the server. */
  file?: File | undefined;
  /** The uploaded share of the file, from 0 to 1. Set only during the upload. */
  sent?: number | undefined;
  /** Why the server or this form rejects the picture, or that it has not been sent yet. */
  error?: string | undefined;
}

export interface Pictures {
  image: PictureItem | null;
  screenshots: readonly PictureItem[];
}

export const NO_PICTURES: Pictures = { image: null, screenshots: [] };

/** The media types that file pickers accept. */
export const ACCEPTED = PICTURE_UPLOADS.mediaTypes.join(',');

export const MAX_MEGABYTES = PICTURE_UPLOADS.maxBytes / 1024 / 1024;

/** Maximum length of the longer side of a preview, in pixels. */
const PREVIEW_PIXELS = 640;

/** Reads picture files one after the other, because a decoded photo occupies tens of megabytes. */
export async function readPictures(files: readonly File[]): Promise<PictureItem[]> {
  const items: PictureItem[] = [];
  for (const file of files) items.push(await readPicture(file));
  return items;
}

/** Reads a picture file. If the file is invalid, the result contains the error. */
async function readPicture(file: File): Promise<PictureItem> {
  const item = { key: randomId() ?? `${file.name} ${file.lastModified}`, src: '', file };
  if (!(PICTURE_UPLOADS.mediaTypes as readonly string[]).includes(file.type)) {
    return { ...item, error: t('{file} is not a PNG, JPEG, WebP, AVIF or GIF picture.', { file: file.name }) };
  }
  if (file.size > PICTURE_UPLOADS.maxBytes) {
    return { ...item, error: t('{file} is larger than {size} MB.', { file: file.name, size: MAX_MEGABYTES }) };
  }
  try {
    const bitmap = await createImageBitmap(file);
    const isTooLarge = bitmap.width * bitmap.height > PICTURE_UPLOADS.maxPixels;
    const src = isTooLarge ? '' : previewOf(bitmap);
    bitmap.close();
    if (!isTooLarge) return { ...item, src };
    return {
      ...item,
      error: t('{file} has more than {count} megapixels.', { file: file.name, count: PICTURE_UPLOADS.maxPixels / 1e6 }),
    };
  } catch {
    return { ...item, error: t('{file} cannot be read: it may be damaged.', { file: file.name }) };
  }
}

/** Returns a preview as a `data:` URL, because the content security policy forbids `blob:` URLs. */
function previewOf(bitmap: ImageBitmap): string {
  const scale = Math.min(1, PREVIEW_PIXELS / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/webp', 0.85);
}

/** Returns the errors of pictures that the form has already found invalid. */
export function pictureErrors({ image, screenshots }: Pictures): FieldError[] {
  const errors: FieldError[] = [];
  if (image?.error && image.src === '')
    errors.push({ field: 'image', detail: t('Remove this file or choose another one.') });
  if (screenshots.some(({ error, src }) => error && src === ''))
    errors.push({ field: 'screenshots', detail: t('Remove the files that cannot be used.') });
  return errors;
}

/** Describes the rejection of a picture. `isTimeSaved`: whether the launch time has been saved. */
export function pictureRefused(isTimeSaved: boolean): Failure {
  return {
    title: t('A picture was not accepted'),
    detail: isTimeSaved
      ? t('Everything else was saved. Remove the picture or choose another one, then send again.')
      : t('Remove this file or choose another one.'),
  };
}

/** Returns the stored pictures of a product. The site's placeholder does not count as a picture. */
export function storedPictures({ image, screenshots }: Pick<Product, 'image' | 'screenshots'>): Pictures {
  return {
    image: image === '' || image === PRODUCT_FIELDS.image.default ? null : { key: image, src: image },
    screenshots: screenshots.map((src, index) => ({ key: `${index} ${src}`, src })),
  };
}

/** Returns whether the server already has these pictures, and no others. */
export function areStored(pictures: Pictures, product: Pick<Product, 'image' | 'screenshots'>): boolean {
  const addresses = ({ image, screenshots }: Pictures) => [image, ...screenshots].map((item) => item?.src).join(' ');
  return addresses(pictures) === addresses(storedPictures(product));
}

/**
 * Applies the maker's changes since `before` to the latest stored pictures. New files stay. The maker's new image, if
 * there is one, replaces an image that was stored in the meantime.
 */
export function rebasePictures({ image, screenshots }: Pictures, before: Pictures, latest: Pictures): Pictures {
  const removed = before.screenshots.map(({ src }) => src);
  for (const { src } of screenshots) removeFirst(removed, src);
  return {
    image: image?.file ? image : latest.image,
    screenshots: [
      ...latest.screenshots.filter(({ src }) => !removeFirst(removed, src)),
      ...screenshots.filter(({ file }) => file !== undefined),
    ],
  };
}

/** Removes the first occurrence of a URL, because the same picture may occur twice. Returns whether there was one. */
function removeFirst(addresses: string[], address: string): boolean {
  return addresses.includes(address) && addresses.splice(addresses.indexOf(address), 1).length > 0;
}

/**
 * Adds the pictures that someone else has stored since `before` to the form's pictures. Called after the server has
 * stored or removed one of the form's pictures.
 */
export function addOthers({ image, screenshots }: Pictures, before: Pictures, latest: Pictures): Pictures {
  const known = [...before.screenshots, ...screenshots].map(({ src }) => src);
  return {
    image: image?.file ? image : latest.image,
    screenshots: [...screenshots, ...latest.screenshots.filter(({ src }) => !known.includes(src))],
  };
}

interface Sending {
  access: MakerAccess;
  pictures: Pictures;
  /** The submission as stored on the server. */
  stored: Submission;
  /** Called with each change of an item. */
  onChange: (key: string, change: Partial<PictureItem>) => void;
  /**
   * Called with the latest version after a picture has been stored (its item then has the URL on the server), after a
   * screenshot has been removed, and after a conflict (409).
   */
  onStored: (submission: Submission) => void;
}

/**
 * Removes deleted screenshots and uploads new pictures one by one, because the server appends screenshots in the order
 * of arrival. A rejected picture is marked with the reason, and the other pictures are still uploaded.
 * @throws SubmissionError if a request fails for another reason.
 */
export async function savePictures(sending: Sending): Promise<Submission> {
  try {
    return await sendPictures(sending);
  } catch (error) {
    // A status of 409 means that someone else has changed the submission, an operator has decided on it, or it has
    // launched.
    if (error instanceof SubmissionError && error.status === 409)
      sending.onStored(await submissionsClient.get(sending.access));
    throw error;
  }
}

async function sendPictures({ access, pictures, stored, onChange, onStored }: Sending): Promise<Submission> {
  let latest = stored;
  const recordStored = (submission: Submission) => {
    latest = submission;
    onStored(submission);
  };
  const remaining = pictures.screenshots.map(({ src }) => src);
  const removed = stored.product.screenshots.filter((address) => !removeFirst(remaining, address));
  for (const address of removed) {
    // Someone else may have moved the screenshots, or removed this one.
    const index = latest.product.screenshots.lastIndexOf(address);
    if (index >= 0) recordStored(await submissionsClient.removeScreenshot(access, index, latest));
  }
  const { image, screenshots } = pictures;
  if (image?.file) await send(image.key, image.file, 'image');
  for (const { key, file } of screenshots) {
    if (file) await send(key, file, 'screenshot');
  }
  return latest;

  async function send(key: string, file: File, use: PictureUse): Promise<void> {
    onChange(key, { sent: 0, error: undefined });
    const upload = { file, onProgress: (sent: number) => onChange(key, { sent }) };
    try {
      const updated = await submissionsClient[use === 'image' ? 'putImage' : 'addScreenshot'](access, upload);
      const { product } = updated;
      const src = use === 'image' ? product.image : (product.screenshots.at(-1) ?? '');
      onChange(key, { file: undefined, sent: undefined, src });
      recordStored(updated);
    } catch (error) {
      const isRefused = error instanceof SubmissionError && REFUSALS.includes(error.status);
      const reason = isRefused
        ? (error.errors[0]?.detail ?? reasonOf(error))
        : t('This picture has not been sent yet.');
      onChange(key, { sent: undefined, error: reason });
      if (!isRefused) throw error;
    }
  }
}

/** The statuses of a rejected picture. A retry would be rejected again. */
const REFUSALS = [413, 415, 422];

/** Returns the pictures that have not been stored on the site. */
export function filesOf({ image, screenshots }: Pictures): PictureItem[] {
  return [...(image ? [image] : []), ...screenshots].filter(({ file }) => file !== undefined);
}
