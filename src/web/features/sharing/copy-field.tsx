import { useId, useRef, useState } from 'react';
import { CheckIcon, CopyIcon } from '../../ui/icons.tsx';
import { copyFrom } from './copy-text.ts';

interface CopyFieldProps {
  label: string;
  /** What the button says and what is said afterwards, e.g. 'Copy link' and 'Link copied'. */
  action: string;
  done: string;
  text: string;
  multiline?: boolean;
}

/** A text to take along. It can be selected by hand as well, where a browser lets no script copy. */
export function CopyField({ label, action, done, text, multiline = false }: CopyFieldProps) {
  const id = useId();
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const [outcome, setOutcome] = useState<{ of: string; copied: boolean } | null>(null);
  // Another text has not been copied yet.
  const current = outcome?.of === text ? outcome : null;
  const props = { id, ref: field, value: text, readOnly: true, spellCheck: false, dir: 'ltr' } as const;

  async function copy(): Promise<void> {
    if (field.current) setOutcome({ of: text, copied: await copyFrom(field.current) });
  }

  return (
    <div className="copy-field">
      <label htmlFor={id}>{label}</label>
      <div className="copy-field-row" data-multiline={multiline}>
        {multiline ? <textarea rows={4} {...props} /> : <input type="text" {...props} />}
        <button type="button" className="button" data-tone="outline" onClick={copy}>
          {current?.copied ? <CheckIcon /> : <CopyIcon />}
          {action}
        </button>
      </div>
      <p className="copy-field-outcome" role="status">
        {current && (current.copied ? done : 'Selected: copy it with your keyboard or by a long press.')}
      </p>
    </div>
  );
}
