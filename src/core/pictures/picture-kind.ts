/** What a picture may be, by the ending of its name in the store. */
export type PictureKind = 'png' | 'jpg' | 'gif' | 'webp' | 'avif' | 'svg';

/** First bytes (as Latin letters) of the kinds that have a mark of their own. */
const MARKS: readonly { kind: PictureKind; mark: RegExp }[] = [
  { kind: 'png', mark: /^\x89PNG\r\n.\n/ },
  { kind: 'jpg', mark: /^\xff\xd8\xff/ },
  { kind: 'gif', mark: /^GIF8[79]a/ },
  { kind: 'webp', mark: /^RIFF[\s\S]{4}WEBPVP8[ LX]/ },
  { kind: 'avif', mark: /^[\s\S]{4}ftypavi[fs]/ },
];

const MARK_BYTES = 16;
const SVG_SAMPLE_BYTES = 4_096;

/**
 * Before the root element XML may have a declaration, comments and a document type. In one way only can a text be read by
 * this: where comments could be taken for one long one, a file of nothing else would keep the program busy for years.
 */
const SVG_START = /^\s*(?:<\?xml[^>]*\?>\s*)?(?:(?:<!--(?:(?!-->)[\s\S])*-->|<!doctype svg[^>]*>)\s*)*<svg[\s/>]/i;

/** What kind of picture a file is by its content, whatever its name says; undefined where it is none. */
export function pictureKindOf(content: Buffer): PictureKind | undefined {
  const start = content.toString('latin1', 0, MARK_BYTES);
  const marked = MARKS.find(({ mark }) => mark.test(start));
  if (marked !== undefined) return marked.kind;
  const text = content.toString('utf8', 0, SVG_SAMPLE_BYTES).replace(/^\ufeff/, '');
  return SVG_START.test(text) ? 'svg' : undefined;
}
