import { SubmissionError } from './submissions-client.ts';

/** Why a request failed, and what the maker can do now. */
export interface Failure {
  title: string;
  detail: string;
}

/** Describes a failure for the maker. `isSaved`: the draft is in this browser. */
export function failureOf(error: unknown, { isSaved = false } = {}): Failure {
  const saved = isSaved ? ' Your text is saved in this browser.' : '';
  if (!(error instanceof SubmissionError))
    return { title: 'Something went wrong', detail: `Please try again.${saved}` };
  const { status, code, message, retryAfter } = error;
  if (status === 0) {
    return navigator.onLine
      ? { title: 'The site cannot be reached', detail: `Try again in a moment.${saved}` }
      : { title: 'You are offline', detail: `Try again when the network is back.${saved}` };
  }
  const later = retryAfter === undefined ? 'Try again later.' : `Try again in ${duration(retryAfter)}.`;
  if (status === 429) return { title: 'Too many at once', detail: `${sentence(message)} ${later}${saved}` };
  if (status === 503) return { title: 'The site is busy', detail: `${later}${saved}` };
  if (code === 'submission_changed') return { title: 'This has changed', detail: 'Close this and open it again.' };
  if (status === 409) return { title: 'This is no longer possible', detail: sentence(message) };
  if (code === 'submission_not_found')
    return { title: 'This maker link no longer works', detail: 'Ask the operator of this site for a new one.' };
  return { title: 'This was rejected', detail: sentence(message) };
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.ceil(seconds))} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
