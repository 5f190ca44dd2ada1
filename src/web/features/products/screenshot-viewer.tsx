import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react';
import { arrowKeys, t } from '../../language/translate.ts';
import { ChevronLeftIcon, ChevronRightIcon, CloseIcon } from '../../ui/icons.tsx';
import { useModalDialog } from '../../ui/modal.tsx';
import { Picture } from '../../ui/picture.tsx';

/** The minimum distance of a swipe. */
const SWIPE_PX = 48;

interface ScreenshotViewerProps {
  pictures: readonly { src: string; alt: string }[];
  startIndex: number;
  onClose: () => void;
}

/** Pictures in full size. The modal dialog traps the focus and returns it to the link that opened it. */
export function ScreenshotViewer({ pictures, startIndex, onClose }: ScreenshotViewerProps) {
  const { dialog, outside } = useModalDialog();
  const touchStart = useRef<number | null>(null);
  const [index, setIndex] = useState(startIndex);
  const isZoomed = useZoomed();
  const picture = pictures[index];
  const step = (by: number) => setIndex((at) => Math.min(Math.max(at + by, 0), pictures.length - 1));

  function onKeyDown(event: KeyboardEvent): void {
    const keys = arrowKeys();
    if (event.key === keys.previous) step(-1);
    if (event.key === keys.next) step(1);
  }

  function onPointerUp(event: PointerEvent): void {
    if (touchStart.current === null) return;
    const travelled = event.clientX - touchStart.current;
    touchStart.current = null;
    if (!isZoomed && Math.abs(travelled) >= SWIPE_PX)
      step(travelled < 0 === (arrowKeys().next === 'ArrowRight') ? 1 : -1);
  }

  if (!picture) return null;
  return (
    <dialog
      ref={dialog}
      className="viewer"
      aria-label={t('Screenshots')}
      onClose={onClose}
      onKeyDown={onKeyDown}
      // Prevents a swipe with the mouse from dragging the picture out of the page.
      onDragStart={(event) => event.preventDefault()}
      {...outside}
    >
      <div className="viewer-bar">
        <p className="viewer-counter" aria-live="polite">
          {index + 1} / {pictures.length}
        </p>
        <button type="button" className="icon-button" aria-label={t('Close')} onClick={() => dialog.current?.close()}>
          <CloseIcon />
        </button>
      </div>
      <div
        className="viewer-stage"
        data-zoomed={isZoomed || undefined}
        onPointerDown={(event) => {
          touchStart.current = event.clientX;
        }}
        onPointerUp={onPointerUp}
        onPointerCancel={() => {
          touchStart.current = null;
        }}
      >
        <Picture key={picture.src} src={picture.src} alt={picture.alt} width={640} height={400} priority />
      </div>
      <div className="viewer-steps">
        <button
          type="button"
          className="icon-button"
          aria-label={t('Previous screenshot')}
          aria-disabled={index === 0}
          onClick={() => step(-1)}
        >
          <ChevronLeftIcon />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label={t('Next screenshot')}
          aria-disabled={index === pictures.length - 1}
          onClick={() => step(1)}
        >
          <ChevronRightIcon />
        </button>
      </div>
    </dialog>
  );
}

/** Returns whether the visitor has zoomed in. If so, a swipe moves the picture instead of showing another one. */
function useZoomed(): boolean {
  const [isZoomed, setZoomed] = useState(false);
  useEffect(() => {
    const viewport = window.visualViewport;
    const update = () => setZoomed(viewport !== null && viewport.scale > 1);
    update();
    viewport?.addEventListener('resize', update);
    return () => viewport?.removeEventListener('resize', update);
  }, []);
  return isZoomed;
}
