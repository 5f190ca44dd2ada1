import { useId, useRef, useState } from 'react';
import { t } from '../../language/translate.ts';
import { Icon } from '../../ui/icons.tsx';

interface CopyFieldProps {
  label: string;
  /** The label of the button, e.g. 'Copy link'. */
  action: string;
  /** The confirmation, e.g. 'Link copied'. */
  done: string;
  text: string;
  multiline?: boolean;
}

/** A text with a button that copies it. If the browser does not allow that, the button selects the text instead. */
export function CopyField({ label, action, done, text, multiline = false }: CopyFieldProps) {
  const id = useId();
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const [outcome, setOutcome] = useState<{ of: string; copied: boolean } | null>(null);
  // A result for an earlier text does not apply to the current one.
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
        {current && (current.copied ? done : t('The text is selected: copy it with the keyboard or a long press.'))}
      </p>
    </div>
  );
}

/**
 * Copies the text of a field. Without access to the clipboard, selects the text and copies it with `execCommand`. If
 * that fails as well, the text stays selected, so visitors can copy it themselves. Resolves to whether the text was
 * copied.
 */
async function copyFrom(field: HTMLInputElement | HTMLTextAreaElement): Promise<boolean> {
  try {
    // On insecure origins (plain HTTP), `navigator.clipboard` is undefined, so this throws an error.
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.focus();
    field.select();
    return document.execCommand('copy');
  }
}

const CopyIcon = () => (
  <Icon>
    <path d="M7.5 7.5H16V17H7.5zM12.5 7.5V3H4v9.5h3.5" />
  </Icon>
);
const CheckIcon = () => (
  <Icon>
    <path d="m4.5 10.5 4 4 7-8.5" />
  </Icon>
);
