import { afterEach, expect, test } from 'vitest';
import { setLanguage } from '../../language/translate.ts';
import { failureOf, SubmissionError } from './submissions-client.ts';

const JAPANESE = { locale: 'ja', messages: { '{sentence}.': '{sentence}。', 'Bad request': '不正なリクエスト' } };

afterEach(() => setLanguage({ locale: 'en-US' }));

test('the detail of a failure ends with the full stop of the page’s language', () => {
  const error = new SubmissionError(400, { code: 'bad_request', title: 'Bad request', detail: 'Not JSON' });
  expect(failureOf(error).detail).toBe('Not JSON.');
  setLanguage(JAPANESE);
  expect(failureOf(error).detail).toBe('不正なリクエスト。');
});

test.each([500, 502, 504])('status %i is not described as a rejection', (status) => {
  expect(failureOf(new SubmissionError(status, {})).title).toBe('Something went wrong');
});
