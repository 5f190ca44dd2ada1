import { pictureFolder } from '../core/pictures/picture-store.ts';
import { readSettings } from '../settings/settings.ts';

/** The folder of the site's own pictures. */
export function ownPictureFolder(): string {
  return pictureFolder(readSettings(process.env).dataDir);
}
