export type TextPart = { kind: 'text'; text: string } | { kind: 'link'; text: string; href: string };

const ADDRESS = /https?:\/\/[^\s<>"'`]+/gi;
const SENTENCE_END = '.,;:!?…';

/** Splits what a visitor wrote into plain text and its http(s) addresses. Joined again, the parts are the text. */
export function linksInText(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(ADDRESS)) {
    const address = withoutTrailingPunctuation(match[0]);
    if (!URL.canParse(address)) continue;
    if (match.index > from) parts.push({ kind: 'text', text: text.slice(from, match.index) });
    parts.push({ kind: 'link', text: address, href: new URL(address).href });
    from = match.index + address.length;
  }
  if (from < text.length) parts.push({ kind: 'text', text: text.slice(from) });
  return parts;
}

/**
 * A full stop ends the sentence, not the address; a closing bracket belongs to it only when it was opened in it. Counted once:
 * every page that shows the comment pays for a long row of them.
 */
function withoutTrailingPunctuation(address: string): string {
  let unopened = address.split(')').length - address.split('(').length;
  let end = address.length;
  for (; ; end -= 1) {
    const last = address.charAt(end - 1);
    if (last === ')' && unopened > 0) unopened -= 1;
    else if (!SENTENCE_END.includes(last)) return address.slice(0, end);
  }
}
