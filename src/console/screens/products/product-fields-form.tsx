import { useIsMutating, useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import { fieldOf } from '../../../contract/products/fields.ts';
import { PICTURE_TOO_LARGE, PICTURE_UPLOADS, type PictureUse } from '../../../contract/products/picture-uploads.ts';
import type { TeamMember } from '../../../contract/products/schema.ts';
import { Avatar } from '../../../web/ui/avatar.tsx';
import { CloseIcon } from '../../../web/ui/icons.tsx';
import { call, messageOf } from '../../api/console-api.ts';
import { FocusableButton } from '../../ui/focusable-button.tsx';
import {
  completeAddress,
  DRAFT_FIELDS,
  type Draft,
  type DraftField,
  membersOf,
  type PictureField,
} from './product-draft.ts';

/** The mutation key of picture uploads. An edit that is saved during an upload would lack the picture. */
export const UPLOADS_KEY = ['picture uploads'];

type ChangeTeam = (change: (team: TeamMember[]) => TeamMember[]) => void;

interface Props {
  draft: Draft;
  errors: Readonly<Record<string, string>>;
  onChange: (change: Partial<Draft>) => void;
  /** Called with the URL of an uploaded picture. */
  onPicture: (name: PictureField, address: string) => void;
  /** Applies a change to the latest team, because the operator may edit the team while a picture is being uploaded. */
  onTeam: ChangeTeam;
}

const HINTS: Partial<Record<DraftField, string>> = {
  image: 'A URL that begins with https://, or with / for this site.',
  tags: 'Separated by commas. If a tag contains a comma: ["C, C++", "Sea"].',
  screenshots: 'One URL per line.',
  createdAt: 'UTC. A future time schedules the launch.',
  launchDate: 'Shown as written.',
};

/** The kind of upload and the label of its button, by field. */
const UPLOADS = {
  image: { use: 'image', label: 'Upload a picture' },
  screenshots: { use: 'screenshot', label: 'Upload screenshots' },
} as const satisfies Record<PictureField, object>;

const LABELS: Partial<Record<DraftField, string>> = {
  createdAt: 'Launches',
  launchDate: 'Launch date',
  screenshots: 'Screenshots',
};

/** A form for the fields of a product except the id, generated from their declarations. */
export function ProductFieldsForm({ draft, errors, onChange, onPicture, onTeam }: Props) {
  return (
    <div className="form">
      {DRAFT_FIELDS.map((name) => {
        const { label, kind } = fieldOf(name);
        const error = errors[name];
        if (name === 'team') return <TeamField key={name} members={membersOf(draft)} error={error} onChange={onTeam} />;
        const hint = HINTS[name];
        const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
        const box = {
          id: `field-${name}`,
          value: draft[name],
          'aria-invalid': error !== undefined,
          ...(described !== '' && { 'aria-describedby': described }),
          onChange: (event: { target: { value: string } }) => onChange({ [name]: event.target.value }),
        };
        const isLong = name === 'description' || kind === 'addresses';
        return (
          <div key={name} className="field">
            <label htmlFor={box.id}>{LABELS[name] ?? label}</label>
            {isLong ? (
              <textarea {...box} rows={name === 'description' ? 6 : 3} dir="auto" />
            ) : (
              <input {...box} type={kind === 'time' ? 'datetime-local' : 'text'} dir="auto" />
            )}
            {hint && (
              <small id={`${name}-hint`} className="quiet">
                {hint}
              </small>
            )}
            {(name === 'image' || name === 'screenshots') && (
              <PictureUpload {...UPLOADS[name]} onUploaded={(address) => onPicture(name, address)} />
            )}
            {error && (
              <small id={`${name}-error`} className="field-error">
                {error}
              </small>
            )}
          </div>
        );
      })}
    </div>
  );
}

interface TeamFieldProps {
  members: readonly TeamMember[];
  error: string | undefined;
  onChange: ChangeTeam;
}

const PARTS = [
  ['name', 'Name'],
  ['role', 'Role'],
  ['avatar', 'Picture'],
] as const satisfies readonly (readonly [keyof TeamMember, string])[];

/** The members of a team, each with name, role and a picture by URL or upload. */
function TeamField({ members, error, onChange }: TeamFieldProps) {
  const list = useRef<HTMLUListElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const isAdding = useRef(false);
  // An upload is for the member at a fixed index, so members cannot be removed while the upload runs.
  const isUploading = useIsMutating({ mutationKey: UPLOADS_KEY }) > 0;
  const [removals, setRemovals] = useState(0);

  useEffect(() => {
    if (!isAdding.current) return;
    isAdding.current = false;
    list.current?.querySelector<HTMLInputElement>('li:last-child input')?.focus();
  });

  const set = (at: number, change: Partial<TeamMember>) =>
    onChange((team) => team.map((member, index) => (index === at ? { ...member, ...change } : member)));

  return (
    <fieldset className="field team" aria-describedby={error && 'team-error'}>
      <legend>Team</legend>
      <ul ref={list}>
        {members.map((member, index) => {
          const who = `team member ${index + 1}`;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the inputs are controlled, and removals reset the uploads
            <li key={index} className="team-member">
              <Avatar name={member.name} src={completeAddress(member.avatar)} />
              <div className="team-boxes">
                {PARTS.map(([part, label]) => (
                  <input
                    key={part}
                    aria-label={`${label} of ${who}`}
                    placeholder={part === 'avatar' ? 'URL of a picture' : label}
                    value={member[part]}
                    dir="auto"
                    onChange={({ target }) => set(index, { [part]: target.value })}
                  />
                ))}
                <PictureUpload
                  key={removals}
                  use="image"
                  label={
                    <>
                      Upload<span className="visually-hidden"> the picture of {who}</span>
                    </>
                  }
                  onUploaded={(avatar) => set(index, { avatar })}
                />
              </div>
              <button
                type="button"
                className="icon-button"
                aria-label={`Remove ${who}`}
                aria-disabled={isUploading}
                onClick={() => {
                  if (isUploading) return;
                  setRemovals(removals + 1);
                  onChange((team) => team.filter((_, at) => at !== index));
                  add.current?.focus();
                }}
              >
                <CloseIcon />
              </button>
            </li>
          );
        })}
      </ul>
      <FocusableButton
        ref={add}
        type="button"
        data-tone="outline"
        isDisabled={members.length >= (fieldOf('team').maxItems ?? Number.POSITIVE_INFINITY)}
        onClick={() => {
          isAdding.current = true;
          onChange((team) => [...team, { name: '', role: '', avatar: '' }]);
        }}
      >
        Add a member
      </FocusableButton>
      {error && (
        <small id="team-error" className="field-error">
          {error}
        </small>
      )}
    </fieldset>
  );
}

interface PictureUploadProps {
  use: PictureUse;
  /** The button's text, such as 'Upload a picture'. */
  label: ReactNode;
  /** Called with the URL of each uploaded picture. The product does not use the picture until the edit is saved. */
  onUploaded: (address: string) => void;
}

/** A button that uploads the chosen pictures one after the other. Closing the editor cancels the uploads. */
function PictureUpload({ use, label, onUploaded }: PictureUploadProps) {
  const { mutate, isPending } = useMutation({ mutationKey: UPLOADS_KEY, mutationFn: send });
  const [errors, setErrors] = useState<readonly string[]>([]);
  const running = useRef<AbortController>(undefined);

  useEffect(() => () => running.current?.abort(), []);

  async function send(files: readonly File[]): Promise<void> {
    running.current = new AbortController();
    const { signal } = running.current;
    setErrors([]);
    for (const file of files) {
      try {
        // Checked before the upload, because a proxy could refuse the file without naming the limit.
        if (file.size > PICTURE_UPLOADS.maxBytes) throw new Error(PICTURE_TOO_LARGE);
        const { address } = await call<{ address: string }>(CONSOLE_API.pictures(use), {
          method: 'POST',
          body: file,
          contentType: file.type,
          signal,
        });
        onUploaded(address);
      } catch (error) {
        if (signal.aborted) return;
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
            // Resets the input. Otherwise, choosing the same file again would have no effect.
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
