import { intlLocale } from '../../language/translate.ts';
/** The visitor's time zone, as an IANA name. */
export function visitorTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** '22 November 2026 at 14:00', in a time zone. */
export function timeInWords(time: string | Date, timeZone: string): string {
  const style = { dateStyle: 'long', timeStyle: 'short', timeZone } as const;
  return new Intl.DateTimeFormat(intlLocale() ?? 'en-GB', style).format(new Date(time));
}

/** 'Europe/Berlin (GMT+1)' at a time; 'UTC' stays as it is. */
export function timeZoneInWords(timeZone: string, at: Date): string {
  const [offset] = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'shortOffset' })
    .formatToParts(at)
    .filter(({ type }) => type === 'timeZoneName');
  return timeZone === 'UTC' || !offset ? timeZone : `${timeZone.replaceAll('_', ' ')} (${offset.value})`;
}

/** A time as the value of a `datetime-local` input: in the visitor's time zone, to the minute. */
export function toLocalInput(time: Date): string {
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

/** The value of a `datetime-local` input as ISO 8601; empty if it is empty or incomplete. */
export function fromLocalInput(value: string): string {
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}

/** Tomorrow at nine in the visitor's time zone, as the initial value. */
export function tomorrowMorning(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9);
}
