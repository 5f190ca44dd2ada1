/**
 * A visitor's text as it can be shown on a terminal, in one line: what would move the cursor, change colours or turn the
 * direction of writing is spelled out.
 */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) => {
    if (character === '\n') return '\\n';
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}
