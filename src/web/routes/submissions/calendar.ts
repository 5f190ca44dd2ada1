interface CalendarEvent {
  /** Identifies the event, so importing it again replaces the earlier one. */
  uid: string;
  title: string;
  description: string;
  url: string;
  startsAt: Date;
  hours: number;
  /** The time at which the file is generated. */
  now: Date;
}

/** Returns the event as an iCalendar file (RFC 5545), with times in UTC. */
export function calendarFile({ uid, title, description, url, startsAt, hours, now }: CalendarEvent): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Groundswell//Launches//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    'BEGIN:VEVENT',
    `UID:${escapeText(uid)}`,
    `DTSTAMP:${utc(now)}`,
    `DTSTART:${utc(startsAt)}`,
    `DTEND:${utc(new Date(startsAt.getTime() + hours * 3_600_000))}`,
    `SUMMARY:${escapeText(title)}`,
    `DESCRIPTION:${escapeText(description)}`,
    `URL:${url}`,
    // The event does not mark the time as busy, because a launch lasts a whole day.
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join('');
}

/** Returns a time in the format of RFC 5545, section 3.3.5, form 2 (UTC). */
function utc(time: Date): string {
  return time.toISOString().replaceAll(/[-:]|\.\d+/g, '');
}

/**
 * Escapes text, including line breaks, as RFC 5545, section 3.3.11, requires. Removes other control characters except
 * tabs, because the format does not allow them.
 */
function escapeText(text: string): string {
  return text
    .replaceAll(/[\\;,]/g, '\\$&')
    .replaceAll(/\r\n?|\n/g, '\\n')
    .replaceAll(/[^\P{Cc}\t]/gu, '');
}

const MAX_LINE_OCTETS = 75;

/**
 * Folds a line as RFC 5545, section 3.1, requires: at most 75 octets per line, and continuation lines begin with a
 * space. Does not split characters.
 */
function fold(line: string): string {
  const encoder = new TextEncoder();
  let folded = '';
  let octets = 0;
  for (const character of line) {
    const { length } = encoder.encode(character);
    if (octets + length > MAX_LINE_OCTETS) {
      folded += '\r\n ';
      octets = 1;
    }
    folded += character;
    octets += length;
  }
  return folded;
}
