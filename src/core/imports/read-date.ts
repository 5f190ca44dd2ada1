const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH =
  '(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?';
const DAY = '(?<day>\\d{1,2})(?:st|nd|rd|th)?';
const YEAR = '(?<year>\\d{4})';
const WEEKDAY = '(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\\.?,? )?';
const TIME =
  '(?:(?:t| )(?<hour>\\d{2}):(?<minute>\\d{2})(?::(?<second>\\d{2})(?:[.,](?<fraction>\\d{1,9}))?)?(?: ?(?<zone>z|utc|gmt|[+-]\\d{2}(?::?\\d{2})?))?)?';

/** The forms that a date is written in, of which none can be taken for another. */
const FORMS = [
  `${YEAR}(?:([-/])(?<monthNumber>\\d{1,2})(?:\\2(?<day>\\d{1,2})${TIME})?)?`,
  `${WEEKDAY}${MONTH} ${YEAR}`,
  `${WEEKDAY}${MONTH} ${DAY},? ${YEAR}${TIME}`,
  `${WEEKDAY}${DAY}[ -]${MONTH}[ -]${YEAR}${TIME}`,
].map((form) => new RegExp(`^${form}$`, 'i'));

/**
 * Reads a date or an instant: ISO 8601 with or without an offset, `2011`, `2011-03`, `March 2021`, `January 22, 2023`,
 * `22 Jan 2023`, `Sun, 22 Jan 2023 10:00:00 GMT`. What is left out is the first there is; a time without an offset is UTC.
 * @returns the instant in the form of `Date.toISOString`; `impossible` for a day or time that does not exist, such as
 * February 30; undefined for what is no date in any of these forms.
 */
export function readDate(text: string): string | 'impossible' | undefined {
  const written = text.trim().replaceAll(/\s+/g, ' ');
  for (const form of FORMS) {
    const groups = form.exec(written)?.groups;
    if (groups !== undefined) return instantOf(groups) ?? 'impossible';
  }
  return undefined;
}

function instantOf(groups: Partial<Record<string, string>>): string | undefined {
  const number = (name: string, missing = 0) => (groups[name] === undefined ? missing : Number(groups[name]));
  const month =
    groups.month === undefined ? number('monthNumber', 1) : MONTHS.indexOf(groups.month.slice(0, 3).toLowerCase()) + 1;
  const [year, day, hour, minute, second] = [
    number('year'),
    number('day', 1),
    number('hour'),
    number('minute'),
    number('second'),
  ];
  const offsetMinutes = offsetOf(groups.zone);
  if (year < 1 || hour > 23 || minute > 59 || second > 59 || offsetMinutes === undefined) return undefined;
  const date = new Date(0);
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const milliseconds = Number((groups.fraction ?? '').padEnd(3, '0').slice(0, 3));
  date.setUTCHours(hour, minute - offsetMinutes, second, milliseconds);
  const instant = date.toISOString();
  // Beyond these years the form changes, and an offset may lead there.
  return /^(?!0000)\d{4}-/.test(instant) ? instant : undefined;
}

/** Minutes east of Greenwich; undefined for an offset that no place has. */
function offsetOf(zone: string | undefined): number | undefined {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone ?? '+00') ?? [null, '+', '0'];
  const offset = Number(hours) * 60 + Number(minutes);
  if (offset > 14 * 60 || Number(minutes) > 59) return undefined;
  return sign === '-' ? -offset : offset;
}
