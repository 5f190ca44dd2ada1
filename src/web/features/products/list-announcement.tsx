import { useEffect, useState } from 'react';
import { formatAmount } from '../../lib/format-count.ts';
import { useHasNavigated } from '../../lib/navigation.tsx';
import type { ProductFilters } from './filters.ts';

interface ListAnnouncementProps {
  filters: ProductFilters;
  count: number;
  more: boolean;
  /** Whether the products on screen are those that were asked for. */
  settled: boolean;
}

/** Tells screen readers how many products a search found; silent for the list that a document arrives with. */
export function ListAnnouncement({ filters, count, more, settled }: ListAnnouncementProps) {
  const key = JSON.stringify([filters.q, filters.tag, filters.sort]);
  const arrivedSearching = useHasNavigated() && Boolean(filters.q ?? filters.tag);
  const [announcedKey, setAnnouncedKey] = useState(arrivedSearching ? '' : key);
  const [text, setText] = useState('');

  useEffect(() => {
    if (!settled || key === announcedKey) return;
    setAnnouncedKey(key);
    setText(`${formatAmount(count, 'product')}${more ? ' or more' : ''}`);
  }, [key, announcedKey, settled, count, more]);

  return (
    <p className="visually-hidden" role="status">
      {text}
    </p>
  );
}
