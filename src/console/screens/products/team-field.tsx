import { useEffect, useRef } from 'react';
import { fieldOf } from '../../../contract/products/fields.ts';
import type { TeamMember } from '../../../contract/products/schema.ts';
import { Avatar } from '../../../web/ui/avatar.tsx';
import { CloseIcon } from '../../../web/ui/icons.tsx';
import { FocusableButton } from '../../ui/focusable-button.tsx';
import { PictureUpload } from './picture-upload.tsx';
import { completeAddress } from './product-draft.ts';

export type ChangeTeam = (change: (team: TeamMember[]) => TeamMember[]) => void;

interface Props {
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
export function TeamField({ members, error, onChange }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const isAdding = useRef(false);

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
            // biome-ignore lint/suspicious/noArrayIndexKey: the inputs are controlled and have no state
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
                onClick={() => {
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
