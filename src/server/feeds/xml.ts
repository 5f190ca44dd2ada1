/** A piece of XML that is already escaped; only the functions of this file make one. */
export interface Xml {
  readonly markup: string;
}

type Attributes = Readonly<Record<string, string | undefined>>;

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

const PLAIN = /^[\w\-.:/ ]*$/;

/** Everything but the characters that XML 1.0 allows (section 2.2): it cannot even name the others. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/**
 * Makes text safe in an element or an attribute. A character that XML forbids becomes U+FFFD. A carriage return is written as
 * a reference, since a parser would turn it into a newline.
 */
export function escapeXml(text: string): string {
  // Most of a sitemap, where this counts.
  if (PLAIN.test(text)) return text;
  return text
    .replaceAll(FORBIDDEN, '\u{fffd}')
    .replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
    .replaceAll('\r', '&#13;');
}

/** An element; a text is escaped, an attribute without a value is left out. */
export function element(name: string, attributes: Attributes, content: string | readonly Xml[] = []): Xml {
  const written = Object.entries(attributes).map(([key, value]) =>
    // A parser turns line breaks and tabs of an attribute into spaces unless they are references.
    value === undefined ? '' : ` ${key}="${escapeXml(value).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`,
  );
  const inner = typeof content === 'string' ? escapeXml(content) : content.map(({ markup }) => markup).join('');
  const start = `<${name}${written.join('')}`;
  return { markup: inner === '' ? `${start}/>` : `${start}>${inner}</${name}>` };
}

/** A whole document. */
export function xmlDocument(root: Xml): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root.markup}\n`;
}
