import type { MouseEvent } from 'react';
import { LIMITS } from '../../../contract/limits.ts';
import { readListCursor } from '../../../contract/products/list-cursor.ts';
import type { ProductListQuery, ProductSort } from '../../../contract/products/schema.ts';
import { hasModifier } from '../../ui/link.tsx';

/** The list that a URL of the home page selects. Default values are omitted, so equal lists have equal query keys. */
export type ProductFilters = Pick<ProductListQuery, 'q' | 'tag' | 'sort' | 'cursor'>;

const SORTS: readonly string[] = ['top', 'discussed'] satisfies ProductSort[];

/** Reads a URL leniently: invalid parameters are ignored. */
export function readFilters(params: URLSearchParams): ProductFilters {
  const filters: ProductFilters = {};
  const q = cleanTerm(params.get('q'), LIMITS.searchCharacters);
  if (q) filters.q = q;
  const tag = cleanTerm(params.get('tag'), LIMITS.tagCharacters);
  if (tag) filters.tag = tag;
  const sort = params.get('sort');
  if (sort && SORTS.includes(sort)) filters.sort = sort as ProductSort;
  const cursor = params.get('cursor');
  if (cursor && cursor.length <= LIMITS.cursorCharacters) filters.cursor = cursor;
  return filters;
}

function cleanTerm(term: string | null, maxCharacters: number): string {
  const storable = (term ?? '').replaceAll('\0', '').trim();
  return Array.from(storable).slice(0, maxCharacters).join('');
}

/**
 * Returns the page number of the list in the URL, or `undefined` without a cursor. With a cursor, the number is at
 * least 2, even if the first page of a search was short.
 */
export function pageNumberOf(filters: ProductFilters): number | undefined {
  return filters.cursor ? Math.max(2, Math.floor(positionOf(filters) / LIMITS.listedProducts) + 1) : undefined;
}

/** Returns the number of products before the cursor in the URL, or 0 without a cursor. */
export function positionOf({ cursor }: ProductFilters): number {
  return (cursor && readListCursor(cursor)?.position) || 0;
}

/** Moves the focus to the title of the list, because the pressed link disappears together with the old list. */
export function focusListTitle(event: MouseEvent): void {
  if (!hasModifier(event)) document.getElementById('list-title')?.focus({ preventScroll: true });
}
