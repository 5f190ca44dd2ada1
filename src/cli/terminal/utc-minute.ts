/** An instant of ISO 8601 in UTC as a table shows it: `2026-01-31T18:00:59.123Z` as `2026-01-31 18:00`. */
export function utcMinute(instant: string): string {
  return instant.slice(0, 16).replace('T', ' ');
}
