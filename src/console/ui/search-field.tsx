import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { LIMITS } from '../../contract/limits.ts';
import { SearchIcon } from '../../web/ui/icons.tsx';
import { isComposing, useShortcuts } from '../../web/ui/shortcuts.ts';
import { useKeys } from './keys.ts';

const DEBOUNCE_MS = 150;

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** A search field that searches while the operator types. The key `/` focuses it, and Escape clears it. */
export function SearchField({ label, value, onChange }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const hasShortcuts = useShortcuts();
  const report = useEffectEvent(onChange);

  const term = text.trim();
  useEffect(() => setText((current) => (current.trim() === value ? current : value)), [value]);
  useEffect(() => {
    if (term === value) return;
    const timer = setTimeout(() => report(term), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [term, value]);
  useKeys({ '/': () => input.current?.focus() });

  return (
    <label className="search-field">
      <SearchIcon />
      <span className="visually-hidden">{label}</span>
      <input
        ref={input}
        type="search"
        placeholder={label}
        value={text}
        maxLength={LIMITS.searchCharacters}
        aria-keyshortcuts={hasShortcuts ? '/' : undefined}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || isComposing(event)) return;
          if (text === '') event.currentTarget.blur();
          else setText('');
        }}
      />
    </label>
  );
}
