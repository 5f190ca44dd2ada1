import { lazy, type MouseEvent, Suspense, useState } from 'react';
import { t } from '../../language/translate.ts';
import { Picture } from '../../ui/picture.tsx';

const ScreenshotViewer = lazy(() => import('./screenshot-viewer.tsx').then((m) => ({ default: m.ScreenshotViewer })));

interface ScreenshotsProps {
  productName: string;
  screenshots: readonly string[];
}

/** A grid of pictures. Each picture opens in a viewer or, without JavaScript, is a link to its file. */
export function Screenshots({ productName, screenshots }: ScreenshotsProps) {
  const [openIndex, setOpenIndex] = useState<number | null>(null);
  if (screenshots.length === 0) return null;

  function open(event: MouseEvent, index: number): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    setOpenIndex(index);
  }

  return (
    <section className="product-section" aria-labelledby="screenshots-title">
      <h2 id="screenshots-title">{t('Screenshots')}</h2>
      <ul className="screenshots">
        {screenshots.map((src, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same picture may be listed twice, and the list never changes
          <li key={index}>
            <a href={src} onClick={(event) => open(event, index)} aria-haspopup="dialog">
              <Picture src={src} alt={altOf(productName, index)} width={640} height={400} />
            </a>
          </li>
        ))}
      </ul>
      {openIndex !== null && (
        <Suspense>
          <ScreenshotViewer
            pictures={screenshots.map((src, index) => ({ src, alt: altOf(productName, index) }))}
            startIndex={openIndex}
            onClose={() => setOpenIndex(null)}
          />
        </Suspense>
      )}
    </section>
  );
}

function altOf(productName: string, index: number): string {
  return t('Screenshot {number} of {name}', { number: index + 1, name: productName });
}
