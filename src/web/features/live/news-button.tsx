import { useEffect, useState } from 'react';
import { ArrowUpIcon } from '../../ui/icons.tsx';

/** What is said aloud changes no more often than this: a busy hour is not to be read out number by number. */
const CALM_MS = 3_000;

interface NewsButtonProps {
  count: number;
  label: string;
  onShow: () => Promise<void>;
}

/** Something waits to be shown. It lies over the gap above the list, so that it moves nothing by coming. */
export function NewsButton({ count, label, onShow }: NewsButtonProps) {
  const calm = useCalm(count > 0 ? label : '');
  const [isBusy, setBusy] = useState(false);

  async function show(): Promise<void> {
    setBusy(true);
    try {
      await onShow();
    } finally {
      setBusy(false);
    }
  }

  return (
    <div className="news" role="status">
      {calm !== '' && (
        <button type="button" className="news-button" aria-disabled={isBusy} onClick={() => !isBusy && show()}>
          <ArrowUpIcon />
          {calm}
        </button>
      )}
    </div>
  );
}

/** A text that comes and goes at once and else changes now and then. */
function useCalm(text: string): string {
  const [shown, setShown] = useState({ text, at: 0 });
  if (text !== shown.text && (text === '' || shown.text === '')) setShown({ text, at: performance.now() });
  useEffect(() => {
    if (text === shown.text) return;
    const timer = setTimeout(
      () => setShown({ text, at: performance.now() }),
      Math.max(0, shown.at + CALM_MS - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [text, shown]);
  return shown.text;
}
