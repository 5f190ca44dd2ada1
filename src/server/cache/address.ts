/** An address with what is given of its parameters, in their order here: however somebody else spelt it, it has one key. */
export function addressOf(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size > 0 ? `${path}?${given}` : path;
}
