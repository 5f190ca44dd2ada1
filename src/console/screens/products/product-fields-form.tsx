import { fieldOf } from '../../../contract/products/fields.ts';
import { PictureUpload } from './picture-upload.tsx';
import { DRAFT_FIELDS, type Draft, type DraftField, membersOf, type PictureField } from './product-draft.ts';
import { type ChangeTeam, TeamField } from './team-field.tsx';

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

/** An input for each field of a product, generated from the field definitions. */
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
