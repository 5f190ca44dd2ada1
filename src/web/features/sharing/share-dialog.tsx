import { type MouseEvent, useEffect, useId, useRef, useState } from 'react';
import { type BadgeTheme, paths } from '../../../contract/paths.ts';
import { CloseIcon, ShareIcon } from '../../ui/icons.tsx';
import { CopyField } from './copy-field.tsx';
import { badgeSnippet, productUrl, type SharedProduct, type SnippetFormat } from './snippets.ts';

const THEMES = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

const FORMATS = [
  { value: 'html', label: 'HTML' },
  { value: 'markdown', label: 'Markdown' },
] as const;

/** Ways to pass a product on. The modal dialog keeps the focus inside and gives it back to what opened it. */
export function ShareDialog({ product, onClose }: { product: SharedProduct; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const [theme, setTheme] = useState<BadgeTheme>('light');
  const [format, setFormat] = useState<SnippetFormat>('html');
  const url = productUrl(product);

  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);

  function onClick(event: MouseEvent): void {
    // The dialog itself is hit only beside what lies in it.
    if (event.target === dialog.current) dialog.current.close();
  }

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes the dialog, as Escape does by itself
    <dialog ref={dialog} className="share-dialog" aria-labelledby={titleId} onClose={onClose} onClick={onClick}>
      <div className="share-dialog-body">
        <div className="share-dialog-head">
          <h2 id={titleId}>Share {product.name}</h2>
          <button type="button" className="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
            <CloseIcon />
          </button>
        </div>
        <CopyField label="Link to this page" action="Copy link" done="Link copied" text={url} />
        {typeof navigator.share === 'function' && <ShareOnButton title={product.name} url={url} />}
        <section className="share-badge" aria-label="Badge">
          <h3>Badge for your own page</h3>
          <p className="share-badge-words">It shows the upvotes as they are whenever somebody looks.</p>
          <div className="share-badge-choices">
            <Choice name="Theme" options={THEMES} value={theme} onChange={setTheme} />
            <Choice name="Format" options={FORMATS} value={format} onChange={setFormat} />
          </div>
          <div className="share-badge-preview" data-theme={theme}>
            <img src={paths.badge(product.id, theme)} alt={`Preview of the ${theme} badge`} />
          </div>
          <CopyField
            label="Code of the badge"
            action="Copy code"
            done="Code copied"
            text={badgeSnippet(product, theme, format)}
            multiline
          />
        </section>
      </div>
    </dialog>
  );
}

/** The system's own way, where there is one. */
function ShareOnButton({ title, url }: { title: string; url: string }) {
  // Whoever closes the system's sheet has not met an error.
  const share = () => navigator.share({ title, url }).catch(() => {});
  return (
    <button type="button" className="button share-on" data-tone="primary" onClick={share}>
      <ShareIcon />
      Share with an app
    </button>
  );
}

interface ChoiceProps<Value extends string> {
  name: string;
  options: readonly { value: Value; label: string }[];
  value: Value;
  onChange: (value: Value) => void;
}

function Choice<Value extends string>({ name, options, value, onChange }: ChoiceProps<Value>) {
  const group = useId();
  return (
    <fieldset className="choice">
      <legend>{name}</legend>
      <div className="choice-options">
        {options.map((option) => (
          <label key={option.value} className="choice-option">
            <input type="radio" name={group} checked={option.value === value} onChange={() => onChange(option.value)} />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
