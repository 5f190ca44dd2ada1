interface TextPart {
  kind: 'text' | 'code' | 'block' | 'link';
  text: string;
}

/**
 * A fenced block with an optional language, or code between single backticks on one line. Text after the opening fence
 * is code if it has several words or if no code follows it.
 */
const CODE = /^```(?!`)(?:[^\s`]*[^\S\n]*\n(?!\s*```))?([\s\S]*?)\n?```[^\S\n]*\n?|`([^`\n]+)`/gm;

/**
 * An http(s) URL. Its host has at most 253 characters, the maximum length of a host name, because `URL` takes quadratic
 * time to encode a host.
 */
const ADDRESS = /https?:\/\/(?![^\s<>"'`/?#]{254})[^\s<>"'`/\\?#][^\s<>"'`]*/gi;
/**
 * Beyond this number of parts, code and links stay plain text, because each part adds far more to a page than its text.
 */
const MAX_PARTS = 100;
const SENTENCE_END = '.,;:!?…';

/**
 * Renders text by a visitor or maker as plain text with code and links. Links have `rel="nofollow ugc"`, so search
 * engines do not attribute them to the site. Code and URLs run from left to right in any text, and do not determine its
 * direction.
 */
export function UserText({ text }: { text: string }) {
  return partsOfText(text).map((part, index) => {
    if (part.kind === 'text') return part.text;
    // Parts of text have no ids and never move, so their index can be the key.
    const key = index;
    return part.kind === 'link' ? (
      <a key={key} dir="ltr" href={part.text} rel="nofollow ugc noopener" target="_blank">
        {part.text}
      </a>
    ) : (
      <code key={key} dir="ltr" className={part.kind}>
        {part.text}
      </code>
    );
  });
}

/** Splits a text into plain text, code and, outside code, http(s) URLs. An unclosed backtick is plain text. */
export function partsOfText(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(CODE)) {
    if (parts.length > MAX_PARTS) break;
    linksInText(text.slice(from, match.index), parts);
    const [whole, block = '', code] = match;
    parts.push(code ? { kind: 'code', text: code } : { kind: 'block', text: block });
    from = match.index + whole.length;
  }
  return linksInText(text.slice(from), parts);
}

/** Splits text into plain text and http(s) URLs, and appends them to `parts`. Joined, they are the original text. */
export function linksInText(text: string, parts: TextPart[] = []): TextPart[] {
  let from = 0;
  for (const match of text.matchAll(ADDRESS)) {
    const address = withoutTrailingPunctuation(match[0]);
    if (parts.length > MAX_PARTS || !isUrl(address)) continue;
    if (match.index > from) parts.push({ kind: 'text', text: text.slice(from, match.index) });
    parts.push({ kind: 'link', text: address });
    from = match.index + address.length;
  }
  if (from < text.length) parts.push({ kind: 'text', text: text.slice(from) });
  return parts;
}

/** Replaces `URL.canParse`, which Safari 16, Chrome 119 and Firefox 114 lack. */
function isUrl(address: string): boolean {
  try {
    return Boolean(new URL(address));
  } catch {
    return false;
  }
}

/**
 * Removes trailing punctuation, which belongs to the sentence and not to the URL. A closing bracket belongs to the URL
 * only if the URL contains its opening bracket. Counts brackets only once, because a comment may contain a long row of
 * them.
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
