/**
 * A random UUID (version 4), or `null` where the browser has no source of randomness.
 * `randomUUID` is missing on plain-http origins, where `getRandomValues` still works.
 */
export function randomId(): string | null {
  const source: Partial<Crypto> | undefined = globalThis.crypto;
  if (source?.randomUUID) return source.randomUUID();
  if (!source?.getRandomValues) return null;
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  // RFC 9562, section 5.4: four bits of version, two of variant.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
