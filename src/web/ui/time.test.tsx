import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { NowProvider, TimeAgo, timeAgo } from './time.tsx';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('relative times (specification, section 9)', () => {
  test.each([
    [0, 'Just now'],
    [MINUTE - 1, 'Just now'],
    [MINUTE, '1 minute ago'],
    [2 * MINUTE, '2 minutes ago'],
    [HOUR - 1, '59 minutes ago'],
    [HOUR, '1 hour ago'],
    [DAY - 1, '23 hours ago'],
    [DAY, '1 day ago'],
    [400 * DAY, '400 days ago'],
  ])('an age of %i ms is "%s"', (elapsed, text) => {
    expect(timeAgo(new Date(NOW - elapsed).toISOString(), NOW)).toBe(text);
  });

  test.each([undefined, null, '', 'yesterday'])('the missing or invalid time %s is "Recently"', (time) => {
    expect(timeAgo(time, NOW)).toBe('Recently');
    const age = renderToStaticMarkup(
      <NowProvider renderedAt={NOW}>
        <TimeAgo time={time as string} />
      </NowProvider>,
    );
    expect(age).toBe('<time class="time-ago">Recently</time>');
  });

  test('a time in the future, which a slow clock can cause, is "Just now"', () => {
    expect(timeAgo(new Date(NOW + HOUR).toISOString(), NOW)).toBe('Just now');
  });
});
