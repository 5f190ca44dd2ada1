/** Escaped XML; only the functions of this file create it. */
export interface Xml {
  readonly markup: string;
}

type Attributes = Readonly<Record<string, string>>;

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

const PLAIN = /^[\w\-.:/ ]*$/;

/** Characters that XML 1.0 does not allow (section 2.2), not even as references. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/**
 * Escapes text for an element or an attribute. Forbidden characters become U+FFFD. A carriage return becomes a
 * reference, since parsers turn it into a newline.
 */
export function escapeXml(text: string): string {
  // This check saves time in sitemaps, which contain thousands of plain URLs.
  if (PLAIN.test(text)) return text;
  return text
    .replaceAll(FORBIDDEN, '\u{fffd}')
    .replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
    .replaceAll('\r', '&#13;');
}

/** Returns an element. Text content is escaped. */
export function element(name: string, attributes: Attributes, content: string | readonly Xml[] = []): Xml {
  const written = Object.entries(attributes).map(
    // Parsers turn line breaks and tabs in attributes into spaces unless they are references.
    ([key, value]) => ` ${key}="${escapeXml(value).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`,
  );
  const inner = typeof content === 'string' ? escapeXml(content) : content.map(({ markup }) => markup).join('');
  const start = `<${name}${written.join('')}`;
  return { markup: inner === '' ? `${start}/>` : `${start}>${inner}</${name}>` };
}

/** Returns an XML document with its declaration. */
export function xmlDocument(root: Xml): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root.markup}\n`;
}
