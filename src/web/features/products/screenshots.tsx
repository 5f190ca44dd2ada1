import { type MouseEvent, useState } from 'react';
import { t } from '../../language/translate.ts';
import { useDeferredDialog } from '../../ui/deferred-dialog.ts';
import { hasModifier } from '../../ui/link.tsx';
import { Picture } from '../../ui/picture.tsx';

const load = () => import('./screenshot-viewer.tsx').then((module) => module.ScreenshotViewer);

interface ScreenshotsProps {
  productName: string;
  screenshots: readonly string[];
}

/** A grid of pictures. Each picture opens in a viewer or, without JavaScript, is a link to its file. */
export function Screenshots({ productName, screenshots }: ScreenshotsProps) {
  const [startIndex, setStartIndex] = useState(0);
  const { Dialog, open, close, props } = useDeferredDialog(load);
  if (screenshots.length === 0) return null;

  function show(event: MouseEvent, index: number): void {
    if (hasModifier(event)) return;
    event.preventDefault();
    setStartIndex(index);
    void open();
  }

  return (
    <section className="product-section" aria-labelledby="screenshots-title">
      <h2 id="screenshots-title">{t('Screenshots')}</h2>
      <ul className="screenshots">
        {screenshots.map((src, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same picture may be listed twice, and the list never changes
          <li key={index}>
            <a href={src} {...props} onClick={(event) => show(event, index)}>
              <Picture src={src} alt={altOf(productName, index)} width={640} height={400} />
            </a>
          </li>
        ))}
      </ul>
      {Dialog && (
        <Dialog
          pictures={screenshots.map((src, index) => ({ src, alt: altOf(productName, index) }))}
          startIndex={startIndex}
          onClose={close}
        />
      )}
    </section>
  );
}

function altOf(productName: string, index: number): string {
  return t('Screenshot {number} of {name}', { number: index + 1, name: productName });
}
