import type { Leaderboard } from '../../../contract/leaderboards/schema.ts';
import { instantInWords } from '../../../contract/leaderboards/words.ts';
import { LIMITS } from '../../../contract/limits.ts';

const WINDOW_MS = LIMITS.launchWindowHours * 3_600_000;

/** The status of a result in words, and what comes next. */
export interface BoardStage {
  label: 'Open' | 'Last votes' | 'Provisional' | 'Final';
  words: string;
  clock?: { label: string; end: string };
}

type StageFields = Pick<Leaderboard, 'status' | 'to' | 'finalAt' | 'revision'>;

/** `now` is in milliseconds. */
export function stageOf({ status, to, finalAt, revision }: StageFields, now: number, timeZone?: string): BoardStage {
  const inWords = (time: string) => instantInWords(time, timeZone);
  const closesAt = new Date(Date.parse(to) + WINDOW_MS).toISOString();
  if (status === 'final') {
    const revised = revision > 0 ? ` It was revised: this is revision ${revision}.` : '';
    return { label: 'Final', words: `Final since ${inWords(finalAt)}.${revised}` };
  }
  if (status === 'provisional') {
    return {
      label: 'Provisional',
      words: `Voting is over. The votes are reviewed until ${inWords(finalAt)}; then the result is final.`,
      clock: { label: 'Final in', end: finalAt },
    };
  }
  if (now < Date.parse(to)) {
    return {
      label: 'Open',
      words: `Launches join until ${inWords(to)}. Each collects votes for ${LIMITS.launchWindowHours} hours, so ranks can change until ${inWords(closesAt)}.`,
      clock: { label: 'Launches join for', end: to },
    };
  }
  return {
    label: 'Last votes',
    words: `No more launches join. The last voting window ends by ${inWords(closesAt)}.`,
    clock: { label: 'Voting ends in', end: closesAt },
  };
}
