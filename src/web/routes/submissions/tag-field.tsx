import { type KeyboardEvent, useEffect, useEffectEvent, useId, useState } from 'react';
import { PRODUCT_FIELDS } from '../../../contract/products/fields.ts';
import { t } from '../../language/translate.ts';
import { CloseIcon } from '../../ui/icons.tsx';
import { isComposing } from '../../ui/shortcuts.ts';
import { FieldMessage } from './fields.tsx';

interface TagFieldProps {
  tags: readonly string[];
  error: string | undefined;
  onChange: (tags: readonly string[]) => void;
}

/** The commas of the Latin, Arabic, Chinese and Japanese scripts. */
const SEPARATOR = /[,،，、]/;

/**
 * The field for tags. The entered tag is added by Enter or a comma, and when the visitor leaves the field, the dialog
 * or the page. Backspace in the empty field removes the last tag, at most one per key press.
 */
export function TagField({ tags, error, onChange }: TagFieldProps) {
  const id = useId();
  const [text, setText] = useState('');
  const [announcement, setAnnouncement] = useState('');

  function add(typed: string): void {
    const added = typed
      .split(SEPARATOR)
      .map((tag) => tag.trim())
      .filter(Boolean);
    const known = new Set(tags.map((tag) => tag.toLowerCase()));
    const fresh = added.filter((tag) => !known.has(tag.toLowerCase()) && known.add(tag.toLowerCase()));
    setText('');
    if (fresh.length === 0) return;
    onChange([...tags, ...fresh]);
    setAnnouncement(t('Added {tags}', { tags: fresh.join(t(', ')) }));
  }

  // Reloading the page or closing the dialog does not blur the field, so the draft would lose the text.
  const onLeave = useEffectEvent(() => add(text));
  useEffect(() => {
    const leave = () => onLeave();
    window.addEventListener('pagehide', leave);
    return () => {
      window.removeEventListener('pagehide', leave);
      leave();
    };
  }, []);

  function remove(tag: string): void {
    onChange(tags.filter((each) => each !== tag));
    setAnnouncement(t('Removed {tag}', { tag }));
    document.getElementById(id)?.focus();
  }

  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    if (isComposing(event)) return;
    const last = tags.at(-1);
    if (event.key === 'Enter' && text.trim() !== '') {
      event.preventDefault();
      add(text);
    } else if (event.key === 'Backspace' && text === '' && last !== undefined && !event.repeat) remove(last);
  }

  /** Adds tags at a separator, even if the text was pasted or entered with an input method. */
  function onText(typed: string): void {
    if (SEPARATOR.test(typed)) add(typed);
    else setText(typed);
  }

  return (
    <div className="submission-field">
      <label htmlFor={id}>
        {t('Tags')}
        <span className="submission-optional">{` ${t('(optional)')}`}</span>
      </label>
      <div className="submission-tags" data-invalid={error !== undefined}>
        {tags.length > 0 && (
          <ul aria-label={t('Tags')}>
            {tags.map((tag) => (
              <li key={tag} className="submission-tag">
                <span dir="auto">{tag}</span>
                <button type="button" aria-label={t('Remove tag {tag}', { tag })} onClick={() => remove(tag)}>
                  <CloseIcon />
                </button>
              </li>
            ))}
          </ul>
        )}
        <input
          id={id}
          type="text"
          autoComplete="off"
          enterKeyHint="enter"
          dir="auto"
          value={text}
          aria-invalid={error !== undefined}
          aria-describedby={error ? `${id}-hint ${id}-error` : `${id}-hint`}
          onChange={({ currentTarget, nativeEvent }) => {
            const isPartial = nativeEvent instanceof InputEvent && nativeEvent.isComposing;
            (isPartial ? setText : onText)(currentTarget.value);
          }}
          onCompositionEnd={({ currentTarget }) => onText(currentTarget.value)}
          onKeyDown={onKeyDown}
          onBlur={() => add(text)}
        />
      </div>
      <p id={`${id}-hint`} className="submission-hint">
        {t('Up to {count} tags, separated by commas. Cards show the first three.', {
          count: PRODUCT_FIELDS.tags.maxItems,
        })}
      </p>
      {error && <FieldMessage id={`${id}-error`}>{error}</FieldMessage>}
      <p className="visually-hidden" role="status">
        {announcement}
      </p>
    </div>
  );
}
