import { type ReactNode, useId } from 'react';
import type { FieldError } from '../../../contract/problem.ts';
import { fieldOf, type MakerText } from '../../../contract/products/fields.ts';
import { plural, t } from '../../language/translate.ts';
import { countCharacters, fieldWith } from './draft.ts';

export type FieldErrors = readonly FieldError[];

export function errorOf(errors: FieldErrors, field: string): string | undefined {
  return errors.find((error) => fieldWith(error) === field)?.detail;
}

export function FieldMessage({ id, children }: { id: string; children: ReactNode }) {
  return (
    <p id={id} className="submission-error">
      {children}
    </p>
  );
}

interface TextFieldProps {
  field: MakerText;
  label: string;
  hint?: string;
  value: string;
  error: string | undefined;
  required?: boolean;
  rows?: number;
  onChange: (value: string) => void;
}

/** The number of remaining characters is shown once this share of the limit is used. */
const SHOW_LEFT_FROM_SHARE = 0.8;

export function TextField({ field, label, hint, value, error, required = false, rows, onChange }: TextFieldProps) {
  const id = useId();
  const { maxCharacters } = fieldOf(field);
  const left = maxCharacters - countCharacters(value.trim());
  const showLeft = left < maxCharacters * (1 - SHOW_LEFT_FROM_SHARE);
  const described = [hint && `${id}-hint`, showLeft && `${id}-left`, error && `${id}-error`].filter(Boolean).join(' ');
  const props = {
    id,
    name: field,
    value,
    dir: 'auto',
    required,
    'aria-invalid': error !== undefined,
    'aria-describedby': described || undefined,
  } as const;
  return (
    <div className="submission-field">
      <label htmlFor={id}>
        {label}
        {!required && <span className="submission-optional">{` ${t('(optional)')}`}</span>}
      </label>
      {rows === undefined ? (
        <input type="text" autoComplete="off" {...props} onChange={(event) => onChange(event.currentTarget.value)} />
      ) : (
        <textarea rows={rows} {...props} onChange={(event) => onChange(event.currentTarget.value)} />
      )}
      {hint && (
        <p id={`${id}-hint`} className="submission-hint">
          {hint}
        </p>
      )}
      {showLeft && (
        <p id={`${id}-left`} className="submission-hint" data-over={left < 0}>
          {left < 0
            ? plural('{count} character too many', '{count} characters too many', -left)
            : plural('{count} character left', '{count} characters left', left)}
        </p>
      )}
      {error && <FieldMessage id={`${id}-error`}>{error}</FieldMessage>}
    </div>
  );
}
