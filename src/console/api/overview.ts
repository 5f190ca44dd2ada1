import { useQuery } from '@tanstack/react-query';
import { CONSOLE_API } from '../../contract/console/paths.ts';
import type { OverviewRecord, WaitingRecord } from '../../contract/console/records.ts';
import { call, consoleKeys } from './console-api.ts';

export function useOverview() {
  return useQuery({
    queryKey: consoleKeys.overview,
    queryFn: ({ signal }) => call<OverviewRecord>(CONSOLE_API.overview, { signal }),
  });
}

/** Loads the numbers of items that need a decision. */
export function useWaiting() {
  return useQuery({
    queryKey: consoleKeys.waiting,
    queryFn: ({ signal }) => call<WaitingRecord>(CONSOLE_API.waiting, { signal }),
  });
}
