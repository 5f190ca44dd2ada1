import { type ReactNode, useEffect } from 'react';

interface PageProps {
  title: string;
  /** One line below the title. */
  lead?: ReactNode;
  /** Controls such as filters, which stay visible while the screen scrolls. */
  toolbar?: ReactNode;
  /** Aligned to the right of the title. */
  actions?: ReactNode;
  children: ReactNode;
}

/** The layout of a screen. Also sets the document's title. */
export function Page({ title, lead, toolbar, actions, children }: PageProps) {
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
        {actions && <div className="page-actions">{actions}</div>}
      </header>
      {toolbar && <div className="toolbar">{toolbar}</div>}
      {children}
    </>
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
