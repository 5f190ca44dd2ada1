import { useEffect } from 'react';
import { News } from '../../features/live/news.tsx';
import { provideNews } from '../../features/live/news-slot.tsx';
import { watchVisit } from '../../features/visits/visits.ts';
import { OfflineNote } from '../offline/offline-note.tsx';

/** What a page is complete without: its code comes when all is quiet. */
export function LateParts() {
  useEffect(() => provideNews(News), []);
  useEffect(watchVisit, []);
  return <OfflineNote />;
}
