import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { copyPressedLinks } from '../../features/comments/show-comment.ts';
import { LiveUpdates } from '../../features/live/live-updates.tsx';
import { provideLiveUpdates } from '../../features/live/live-updates-slot.tsx';
import { watchVotes } from '../../features/upvotes/set-upvote.ts';
import { watchVisit } from '../../features/visits/visits.ts';
import { OfflineNote } from '../offline/offline-note.tsx';
import { useReturnFocus } from './return-focus.ts';

/** Features that a page works without: their code loads when the browser is idle. */
export function DeferredFeatures() {
  useEffect(() => provideLiveUpdates(LiveUpdates), []);
  const client = useQueryClient();
  useEffect(() => watchVotes(client), [client]);
  useEffect(watchVisit, []);
  useEffect(copyPressedLinks, []);
  useReturnFocus();
  return <OfflineNote />;
}
