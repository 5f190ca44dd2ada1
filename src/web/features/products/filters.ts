import { LIMITS } from '../../../contract/limits.ts';
import { paths } from '../../../contract/paths.ts';
import type { ProductSort } from '../../../contract/products/schema.ts';

/** What the home page's address asks for. Defaults are left out, so that equal lists have equal keys. */
export interface ProductFilters {
  q?: string;
  tag?: string;
  sort?: ProductSort;
  /** Where the list starts when the address names a later page (reading without JavaScript). */
  cursor?: string;
  page?: number;
}

const SORTS: readonly string[] = ['top', 'discussed'] satisfies ProductSort[];

/** Reads an address leniently: what it does not understand narrows nothing. */
export function readFilters(params: URLSearchParams): ProductFilters {
  const filters: ProductFilters = {};
  const q = cleanTerm(params.get('q'), LIMITS.searchCharacters);
  if (q) filters.q = q;
  const tag = cleanTerm(params.get('tag'), LIMITS.tagCharacters);
  if (tag) filters.tag = tag;
  const sort = params.get('sort');
  if (sort && SORTS.includes(sort)) filters.sort = sort as ProductSort;
  const cursor = params.get('cursor');
  if (cursor && cursor.length <= LIMITS.cursorCharacters) {
    filters.cursor = cursor;
    filters.page = readPage(params.get('page'));
  }
  return filters;
}

/** The address of a list. */
export function listHref(filters: ProductFilters): string {
  const params = new URLSearchParams();
  for (const name of ['q', 'tag', 'sort', 'cursor', 'page'] as const) {
    const value = filters[name];
    if (value !== undefined) params.set(name, String(value));
  }
  return params.size === 0 ? paths.home : `${paths.home}?${params}`;
}

function cleanTerm(term: string | null, maxCharacters: number): string {
  const storable = (term ?? '').replaceAll('\0', '').trim();
  return Array.from(storable).slice(0, maxCharacters).join('');
}

/** A cursor without a page number stands somewhere after the first page. */
function readPage(page: string | null): number {
  const number = Number(page);
  return Number.isSafeInteger(number) && number > 1 ? number : 2;
}
