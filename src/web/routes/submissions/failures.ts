import { reasonOf } from '../../api/api-error.ts';
import { plural, t } from '../../language/translate.ts';
import { SubmissionError } from './submissions-client.ts';

/** Why a request failed, and what the maker can do now. */
export interface Failure {
  title: string;
  detail: string;
}

/** Describes a failure for the maker. `isSaved`: the draft is in this browser. */
export function failureOf(error: unknown, { isSaved = false } = {}): Failure {
  const saved = isSaved ? ` ${t('Your text is saved in this browser.')}` : '';
  if (!(error instanceof SubmissionError))
    return { title: t('Something went wrong'), detail: t('Please try again.') + saved };
  const { status, code, retryAfter } = error;
  const message = sentence(reasonOf(error));
  if (status === 0) {
    return navigator.onLine
      ? { title: t('The site cannot be reached'), detail: t('Try again in a moment.') + saved }
      : { title: t('You are offline'), detail: t('Try again when the network is back.') + saved };
  }
  const later =
    retryAfter === undefined ? t('Try again later.') : t('Try again in {time}.', { time: duration(retryAfter) });
  if (status === 429) return { title: t('Too many at once'), detail: `${message} ${later}${saved}` };
  if (status === 503) return { title: t('The site is busy'), detail: `${later}${saved}` };
  if (code === 'submission_changed')
    return { title: t('This has changed'), detail: t('Close this and open it again.') };
  if (status === 409) return { title: t('This is no longer possible'), detail: message };
  if (code === 'submission_not_found')
    return { title: t('This maker link no longer works'), detail: t('Ask the operator of this site for a new one.') };
  return { title: t('This was rejected'), detail: message };
}

function duration(seconds: number): string {
  if (seconds < 90) return plural('{count} seconds', '{count} seconds', Math.max(1, Math.ceil(seconds)));
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90
    ? plural('{count} minute', '{count} minutes', minutes)
    : plural('{count} hour', '{count} hours', Math.ceil(minutes / 60));
}

function sentence(text: string): string {
  return /[.!?。]$/.test(text) ? text : `${text}.`;
}
