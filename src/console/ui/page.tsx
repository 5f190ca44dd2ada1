import { type ComponentProps, type ReactNode, useEffect } from 'react';
import type { ConsoleScreen } from '../../contract/console/paths.ts';
import { hasModifier } from '../../web/ui/link.tsx';
import { addressOf, focusMain, goTo, type Query, setQuery } from '../location.ts';

interface PageProps {
  title: string;
  /** One line below the title. */
  lead?: ReactNode;
  /** Controls such as filters, which stay visible while the screen scrolls. */
  toolbar?: ReactNode;
  children: ReactNode;
}

/** The layout of a screen. Also sets the document's title. */
export function Page({ title, lead, toolbar, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Console`;
  }, [title]);

  return (
    <>
      <header className="page-head">
        <div className="page-title">
          <h1>{title}</h1>
          {lead && <p>{lead}</p>}
        </div>
      </header>
      {toolbar && <div className="toolbar">{toolbar}</div>}
      {children}
    </>
  );
}

interface ScreenLinkProps extends ComponentProps<'a'> {
  screen: ConsoleScreen;
  query?: Query;
}

/**
 * A link to a screen. A plain click navigates within the page, and the browser handles clicks that open a tab or
 * window.
 */
export function ScreenLink({ screen, query, ...anchor }: ScreenLinkProps) {
  return (
    <a
      {...anchor}
      href={addressOf(screen, query)}
      onClick={(event) => {
        if (hasModifier(event) || event.button !== 0) return;
        event.preventDefault();
        goTo(screen, query);
      }}
    />
  );
}

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly (readonly [Value, ReactNode])[];
  onChange: (value: Value) => void;
}

/** A segmented control: a choice between a few options. */
export function Segments<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <fieldset className="segments">
      <legend className="visually-hidden">{label}</legend>
      {options.map(([each, text]) => (
        <label key={each} className="segment">
          <input type="radio" name={label} value={each} checked={each === value} onChange={() => onChange(each)} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** A drop-down with an inline label. */
export function Select<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <label className="select">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value as Value)}>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A filter from the URL. A click removes it, and `effect` describes this to screen readers. */
export function FilterTag({ parameter, value, effect }: { parameter: string; value: string; effect: string }) {
  function remove(): void {
    setQuery({ [parameter]: undefined });
    focusMain();
  }

  return (
    <button type="button" className="tag" onClick={remove}>
      {value} ✕<span className="visually-hidden">: {effect}</span>
    </button>
  );
}
