import { expect, test } from 'vitest';
import { calendarFile } from './calendar.ts';

const EVENT = {
  uid: 'launch-tidal@groundswell.example',
  title: 'Launch of Tidal',
  description: 'Tidal launches.',
  url: 'https://groundswell.example/product/tidal',
  startsAt: new Date('2026-12-01T08:00:00.000Z'),
  hours: 24,
  now: new Date('2026-11-22T12:34:56.789Z'),
};

const linesOf = (file: string) => file.replaceAll('\r\n ', '').split('\r\n');

test('an event is complete and in UTC, and every line ends with CRLF', () => {
  const file = calendarFile(EVENT);
  expect(linesOf(file)).toEqual([
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Groundswell//Launches//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    'BEGIN:VEVENT',
    'UID:launch-tidal@groundswell.example',
    'DTSTAMP:20261122T123456Z',
    'DTSTART:20261201T080000Z',
    'DTEND:20261202T080000Z',
    'SUMMARY:Launch of Tidal',
    'DESCRIPTION:Tidal launches.',
    'URL:https://groundswell.example/product/tidal',
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ]);
  expect(file).not.toMatch(/[^\r]\n/);
});

test('line breaks in a text cannot start another property, and control characters other than tabs are removed', () => {
  const title = 'a\\b; c, d\nEND:VEVENT\r\nx\u0007\ty\u007f\u0085';
  expect(linesOf(calendarFile({ ...EVENT, title }))).toContain('SUMMARY:a\\\\b\\; c\\, d\\nEND:VEVENT\\nx\ty');
});

test('no line is longer than 75 octets or ends within a character', () => {
  const title = `Launch of ${'🌊é'.repeat(60)}`;
  const file = calendarFile({ ...EVENT, title });
  for (const line of file.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
  expect(linesOf(file)).toContain(`SUMMARY:${title}`);
  expect(file).not.toContain('\uFFFD');
});
