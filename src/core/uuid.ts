const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID in its usual form; PostgreSQL would answer anything else with an error. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
