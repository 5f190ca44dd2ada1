import { useId, useState } from 'react';
import { type BadgeTheme, badgePath } from '../../../contract/paths/badge.ts';
import * as paths from '../../../contract/paths.ts';
import type { PlainMessage } from '../../language/catalogue.ts';
import { rich, t, translated } from '../../language/translate.ts';
import { useSite } from '../../routing/document-head.ts';
import { ShareIcon } from '../../ui/icons.tsx';
import { Modal } from '../../ui/modal.tsx';
import { CopyField } from './copy-field.tsx';

const THEMES = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

const FORMATS = [
  { value: 'html', label: 'HTML' },
  { value: 'markdown', label: 'Markdown' },
] as const;

interface ShareDialogProps {
  product: Pick<SharedProduct, 'id' | 'name'>;
  onClose: () => void;
}

export function ShareDialog({ product: { id, name }, onClose }: ShareDialogProps) {
  const site = useSite();
  const product = { id, name, siteName: site.name, siteUrl: site.url };
  const [theme, setTheme] = useState<BadgeTheme>('light');
  const [format, setFormat] = useState<SnippetFormat>('html');
  const [size, setSize] = useState<BadgeSize>();
  const url = productUrl(product);

  return (
    <Modal title={rich('Share {name}', { name: <bdi>{product.name}</bdi> })} onClose={onClose}>
      <CopyField label={t('Link to this page')} action={t('Copy link')} done={t('Link copied')} text={url} />
      {typeof navigator.share === 'function' && <ShareOnButton title={product.name} url={url} />}
      <section className="share-badge" aria-label={t('Badge')}>
        <h3>{t('Badge for your own page')}</h3>
        <p className="share-badge-words">{t('The badge always shows the current count.')}</p>
        <div className="share-badge-choices">
          <Choice name={t('Theme')} options={THEMES} value={theme} onChange={setTheme} />
          <Choice name={t('Format')} options={FORMATS} value={format} onChange={setFormat} />
        </div>
        <div className="share-badge-preview" data-theme={theme}>
          <img
            src={badgePath(product.id, theme)}
            alt={theme === 'light' ? t('Preview of the light badge') : t('Preview of the dark badge')}
            onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) => setSize({ width, height })}
          />
        </div>
        <CopyField
          label={t('Badge code')}
          action={t('Copy code')}
          done={t('Code copied')}
          text={badgeSnippet(product, theme, format, size)}
          multiline
        />
      </section>
    </Modal>
  );
}

/** A button that opens the system's share sheet, if there is one. */
function ShareOnButton({ title, url }: { title: string; url: string }) {
  // Closing the share sheet rejects the promise, but is not an error.
  const share = () => navigator.share({ title, url }).catch(() => {});
  return (
    <button type="button" className="button share-on" data-tone="primary" onClick={share}>
      <ShareIcon />
      {t('Share with an app')}
    </button>
  );
}

interface ChoiceProps<Value extends string> {
  name: string;
  options: readonly { value: Value; label: PlainMessage | 'HTML' | 'Markdown' }[];
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
            <span>{translated(option.label)}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

type SnippetFormat = 'html' | 'markdown';

/** The shared product and its site. */
interface SharedProduct {
  id: string;
  name: string;
  siteName: string;
  /** The origin of absolute links, without a trailing slash. */
  siteUrl: string;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function productUrl({ id, siteUrl }: SharedProduct): string {
  return siteUrl + paths.product(id);
}

/** The intrinsic size of the badge in CSS pixels. It is unknown until the badge's picture has loaded. */
interface BadgeSize {
  width: number;
  height: number;
}

/**
 * Returns HTML or Markdown for other sites, which shows the badge with the live count and links to the product. The
 * size, which only HTML can state, prevents a layout shift.
 */
export function badgeSnippet(
  product: SharedProduct,
  theme: BadgeTheme,
  format: SnippetFormat,
  size?: BadgeSize,
): string {
  const url = productUrl(product);
  const picture = product.siteUrl + badgePath(product.id, theme);
  const words = `${product.name.replace(/\s+/g, ' ')} on ${product.siteName}`;
  if (format === 'markdown') return `[![${words.replace(/[\\[\]`*_<>]/g, '\\$&')}](${picture})](${url})`;
  const encode = (text: string) => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
  return `<a href="${encode(url)}"><img src="${encode(picture)}" alt="${encode(words)}"${size ? ` width="${size.width}" height="${size.height}"` : ''}></a>`;
}
