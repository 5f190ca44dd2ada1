import { useState } from 'react';
import { formatCount } from '../../contract/text.ts';

/** Tells screen readers how many items are selected, because the key X selects a row without moving the focus. */
export function SelectionStatus({ count }: { count: number }) {
  const [wasUsed, setUsed] = useState(false);
  if (count > 0 && !wasUsed) setUsed(true);
  // Always rendered, because screen readers announce only changes of an existing status element.
  return (
    <p className="visually-hidden" role="status">
      {wasUsed && `${formatCount(count)} selected`}
    </p>
  );
}
