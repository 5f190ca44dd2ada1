/**
 * What is left of a text when everything goes that is changed to pass one text off for another: case and width of letters,
 * accents, digits, punctuation, spaces, invisible characters, letters that are drawn out, and of an address all but its
 * host. Empty for a text without letters.
 */
export function fingerprintOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\bhttps?:\/\/(?:www\.)?([^\s/?#]+)\S*/g, ' $1 ')
    .replaceAll(/[^\p{L}]/gu, '')
    .replaceAll(/(.)\1+/gu, '$1');
}
