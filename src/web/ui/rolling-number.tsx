import { useState } from 'react';
import { formatCount } from '../language/translate.ts';

/** A count that rolls up or down when it changes. Its first appearance is not animated. */
export function RollingNumber({ value }: { value: number }) {
  const [shown, setShown] = useState<{ value: number; old?: string; roll?: 'up' | 'down' }>({ value });
  if (shown.value !== value) {
    setShown({ value, old: formatCount(shown.value), roll: value > shown.value ? 'up' : 'down' });
  }
  return (
    <span className="rolling-number">
      <span key={value} className="rolling-number-value" data-roll={shown.roll} data-old={shown.old}>
        {formatCount(value)}
      </span>
    </span>
  );
}
