import { intlLocale } from '../../language/translate.ts';

/** Returns the visitor's time zone, as an IANA name, or 'UTC' if the browser does not know it. */
export function visitorTimeZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  try {
    Intl.DateTimeFormat(undefined, { timeZone });
    return timeZone;
  } catch {
    // Chrome may return 'Etc/Unknown', which `Intl` does not accept.
    return 'UTC';
  }
}

/** Formats a time like '22 November 2026 at 14:00' in a time zone. */
export function formatTime(time: string | Date, timeZone: string): string {
  const style = { dateStyle: 'long', timeStyle: 'short', timeZone } as const;
  return new Intl.DateTimeFormat(intlLocale() ?? 'en-GB', style).format(new Date(time));
}

/** Formats a time zone with its offset at the given time, like 'Europe/Berlin (GMT+1)', but 'UTC' without an offset. */
export function formatTimeZone(timeZone: string, at: Date): string {
  const [offset] = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'shortOffset' })
    .formatToParts(at)
    .filter(({ type }) => type === 'timeZoneName');
  return timeZone === 'UTC' || !offset ? timeZone : `${timeZone.replaceAll('_', ' ')} (${offset.value})`;
}

/** Returns a time as the value of a `datetime-local` input: in the visitor's time zone, to the minute. */
export function toLocalInput(time: Date): string {
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

/**
 * Converts the value of a `datetime-local` input to ISO 8601. Returns an empty string if the value is empty or
 * incomplete.
 */
export function fromLocalInput(value: string): string {
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}

/** Returns 9:00 on the next day in the visitor's time zone, which is the initial value of the input. */
export function tomorrowMorning(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9);
}
