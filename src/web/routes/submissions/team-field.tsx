import { useEffect, useId, useRef } from 'react';
import { TEAM_MEMBER_LIMITS } from '../../../contract/products/fields.ts';
import { t } from '../../language/translate.ts';
import { CloseIcon } from '../../ui/icons.tsx';
import { countCharacters, type Draft } from './draft.ts';
import { FieldMessage } from './fields.tsx';

interface TeamFieldProps {
  team: Draft['team'];
  error: string | undefined;
  onChange: (team: Draft['team']) => void;
}

export function TeamField({ team, error, onChange }: TeamFieldProps) {
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const count = useRef(team.length);

  useEffect(() => {
    // Focuses the name of an added person.
    if (team.length > count.current) list.current?.querySelector<HTMLElement>('li:last-child input')?.focus();
    count.current = team.length;
  }, [team.length]);

  const set = (index: number, change: Partial<Draft['team'][number]>) =>
    onChange(team.map((member, each) => (each === index ? { ...member, ...change } : member)));

  return (
    <fieldset className="submission-field" aria-describedby={error && `${id}-error`}>
      <legend>
        {t('Team')}
        <span className="submission-optional">{` ${t('(optional)')}`}</span>
      </legend>
      <ul ref={list} className="submission-team">
        {team.map((member, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: people have no ids, and their inputs have no state
          <li key={index}>
            <input
              type="text"
              autoComplete="off"
              dir="auto"
              placeholder={t('Name')}
              aria-label={t('Name of person {number}', { number: index + 1 })}
              aria-invalid={error !== undefined && (member.name.trim() === '' || isTooLong(member.name))}
              value={member.name}
              onChange={(event) => set(index, { name: event.currentTarget.value })}
            />
            <input
              type="text"
              autoComplete="off"
              dir="auto"
              placeholder={t('Role')}
              aria-label={t('Role of person {number}', { number: index + 1 })}
              aria-invalid={error !== undefined && isTooLong(member.role)}
              value={member.role}
              onChange={(event) => set(index, { role: event.currentTarget.value })}
            />
            <button
              type="button"
              className="icon-button"
              aria-label={t('Remove {name}', {
                name: member.name.trim() || t('person {number}', { number: index + 1 }),
              })}
              onClick={() => {
                onChange(team.filter((_, each) => each !== index));
                document.getElementById(`${id}-add`)?.focus();
              }}
            >
              <CloseIcon />
            </button>
          </li>
        ))}
      </ul>
      {error && <FieldMessage id={`${id}-error`}>{error}</FieldMessage>}
      <button
        id={`${id}-add`}
        type="button"
        className="button"
        data-tone="outline"
        onClick={() => onChange([...team, { name: '', role: '' }])}
      >
        {t('Add a person')}
      </button>
    </fieldset>
  );
}

const isTooLong = (text: string) => countCharacters(text.trim()) > TEAM_MEMBER_LIMITS.maxCharacters;
