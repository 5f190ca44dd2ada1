import { LIMITS } from '../../contract/limits.ts';
import { isStorableText } from '../../contract/text.ts';
import { isCommentCursor } from '../../core/comments/list-comments.ts';
import { isProductCursor } from '../../core/products/list-products.ts';

/** What a page's address asks for, cleaned: `path` has only parameters that mean something, in one order. */
export interface PageAddress {
  path: string;
  /** Whether a parameter of ours had a value that cannot be: the visitor is sent to `path` instead. */
  faulty: boolean;
}

const SORTS = new Set(['newest', 'top', 'discussed'] as const);
type Sort = typeof SORTS extends Set<infer Name> ? Name : never;

/** The address of the list: `q`, `tag`, `sort`, and `cursor` with the number of its `page`. */
export function homeAddress(query: URLSearchParams): PageAddress {
  const sort = (query.get('sort') ?? 'newest') as Sort;
  return clean('/', query, {
    q: (text) => isStorableText(text) && [...text].length <= LIMITS.searchCharacters,
    tag: (text) => isStorableText(text) && [...text].length <= LIMITS.tagCharacters,
    sort: (text) => SORTS.has(text as Sort),
    cursor: (text) => SORTS.has(sort) && isProductCursor(text, sort),
    page: (text) => /^[1-9]\d{0,6}$/.test(text) && isProductCursor(query.get('cursor') ?? '', sort),
  });
}

/** The address of a product: `comments` is a cursor into its discussion, best first. */
export function productAddress(id: string, query: URLSearchParams): PageAddress {
  return clean(`/product/${encodeURIComponent(id)}`, query, {
    comments: (text) => isCommentCursor(text, 'best'),
  });
}

function clean(
  pathname: string,
  query: URLSearchParams,
  checks: Record<string, (text: string) => boolean>,
): PageAddress {
  if (query.size === 0) return { path: pathname, faulty: false };
  const kept = new URLSearchParams();
  let faulty = false;
  for (const [name, isUsable] of Object.entries(checks)) {
    const text = query.get(name);
    if (text === null || text === '') continue;
    if (isUsable(text)) kept.set(name, text);
    else faulty = true;
  }
  return { path: kept.size > 0 ? `${pathname}?${kept}` : pathname, faulty };
}
