import type { Leaderboard } from '../../../contract/leaderboards/schema.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { PlainMessage } from '../../language/catalogue.ts';
import { t } from '../../language/translate.ts';
import { instantInWords } from '../../language/words.ts';

const WINDOW_MS = LIMITS.launchWindowHours * 3_600_000;

/** The status of a result in words, and what comes next. */
export interface BoardStage {
  label: 'Open' | 'Last votes' | 'Provisional' | 'Final';
  words: string;
  clock?: { label: PlainMessage; end: string };
}

type StageFields = Pick<Leaderboard, 'status' | 'to' | 'finalAt' | 'revision'>;

/** `now` is in milliseconds. */
export function stageOf({ status, to, finalAt, revision }: StageFields, now: number, timeZone?: string): BoardStage {
  const inWords = (time: string) => instantInWords(time, timeZone);
  const closesAt = new Date(Date.parse(to) + WINDOW_MS).toISOString();
  if (status === 'final') {
    const revised = revision > 0 ? ` ${t('It was revised: this is revision {revision}.', { revision })}` : '';
    return { label: 'Final', words: t('Final since {time}.', { time: inWords(finalAt) }) + revised };
  }
  if (status === 'provisional') {
    return {
      label: 'Provisional',
      words: t('Voting is over. The votes are reviewed until {time}; then the result is final.', {
        time: inWords(finalAt),
      }),
      clock: { label: 'Final in', end: finalAt },
    };
  }
  if (now < Date.parse(to)) {
    return {
      label: 'Open',
      words: t('Launches join until {to}. Each collects votes for {hours} hours, so ranks can change until {end}.', {
        to: inWords(to),
        hours: LIMITS.launchWindowHours,
        end: inWords(closesAt),
      }),
      clock: { label: 'Launches join for', end: to },
    };
  }
  return {
    label: 'Last votes',
    words: t('No more launches join. The last voting window ends by {time}.', { time: inWords(closesAt) }),
    clock: { label: 'Voting ends in', end: closesAt },
  };
}
