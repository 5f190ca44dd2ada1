import { useEffect, useState } from 'react';
import { ArrowUpIcon } from '../../ui/icons.tsx';

/** Announcements to screen readers are limited to this rate, so a busy hour is not read out number by number. */
const ANNOUNCE_INTERVAL_MS = 3_000;

interface LiveUpdatesButtonProps {
  count: number;
  label: string;
  onShow: () => Promise<void>;
}

/** Offers to show new items. It lies over the gap above the list, so the layout does not shift. */
export function LiveUpdatesButton({ count, label, onShow }: LiveUpdatesButtonProps) {
  const calm = useThrottledText(count > 0 ? label : '');
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
    <div className="live-updates" role="status">
      {calm !== '' && (
        <button type="button" className="live-updates-button" aria-disabled={isBusy} onClick={() => !isBusy && show()}>
          <ArrowUpIcon />
          {calm}
        </button>
      )}
    </div>
  );
}

/** A text that appears and disappears at once, but otherwise changes at a limited rate. */
function useThrottledText(text: string): string {
  const [shown, setShown] = useState({ text, at: 0 });
  if (text !== shown.text && (text === '' || shown.text === '')) setShown({ text, at: performance.now() });
  useEffect(() => {
    if (text === shown.text) return;
    const timer = setTimeout(
      () => setShown({ text, at: performance.now() }),
      Math.max(0, shown.at + ANNOUNCE_INTERVAL_MS - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [text, shown]);
  return shown.text;
}
