import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import { PICTURE_UPLOADS } from '../../../contract/products/picture-uploads.ts';
import { call, messageOf } from '../../api/console-api.ts';

interface Props {
  use: 'image' | 'screenshot';
  /** The button's text, such as 'Upload a picture'. */
  label: ReactNode;
  /** Called with the URL of each uploaded picture. The product does not use the picture until the edit is saved. */
  onUploaded: (address: string) => void;
}

/** The mutation key of running uploads. An edit that is saved before they end would lack the pictures. */
export const UPLOADS = ['picture uploads'];

/** A button that uploads the chosen pictures one after the other. */
export function PictureUpload({ use, label, onUploaded }: Props) {
  const { mutate, isPending } = useMutation({ mutationKey: UPLOADS, mutationFn: send, networkMode: 'always' });
  const [errors, setErrors] = useState<readonly string[]>([]);

  async function send(files: readonly File[]): Promise<void> {
    setErrors([]);
    for (const file of files) {
      try {
        const { address } = await call<{ address: string }>(CONSOLE_API.pictures(use), {
          method: 'POST',
          body: file,
          contentType: file.type,
        });
        onUploaded(address);
      } catch (error) {
        setErrors((others) => [...others, `${file.name}: ${messageOf(error)}`]);
      }
    }
  }

  return (
    <div className="picture-upload">
      <label className="button" data-tone="outline" aria-disabled={isPending}>
        {isPending ? 'Uploading …' : label}
        <input
          className="visually-hidden"
          type="file"
          accept={PICTURE_UPLOADS.mediaTypes.join(',')}
          multiple={use === 'screenshot'}
          disabled={isPending}
          onChange={({ target }) => {
            const files = [...(target.files ?? [])];
            // Otherwise, choosing the same file again would have no effect.
            target.value = '';
            mutate(files);
          }}
        />
      </label>
      <div role="alert">
        {errors.map((error) => (
          <small key={error} className="field-error">
            {error}
          </small>
        ))}
      </div>
    </div>
  );
}
