import { createBrowserStore, useBrowserStore } from '../../lib/browser-store.ts';

/** What is kept of a product, so that it can be named when it cannot be read. */
export interface SavedProduct {
  id: string;
  name: string;
  image: string;
}

/** As many as one looks through; nothing is thrown out to make room for more. */
export const MOST_SAVED = 100;

/** The latest first. */
export const savedProducts = createBrowserStore<readonly SavedProduct[]>('saved_products', (kept) =>
  Array.isArray(kept) ? kept.filter(isSavedProduct).slice(0, MOST_SAVED) : [],
);

/** Returns whether there was room. */
export function saveProduct({ id, name, image }: SavedProduct): boolean {
  const others = savedProducts.read().filter((saved) => saved.id !== id);
  if (others.length >= MOST_SAVED) return false;
  savedProducts.write([{ id, name, image }, ...others]);
  return true;
}

export function forgetProduct(id: string): void {
  const others = savedProducts.read().filter((saved) => saved.id !== id);
  savedProducts.write(others.length > 0 ? others : undefined);
}

export function useIsSaved(id: string): boolean {
  return useBrowserStore(savedProducts, (all) => all.some((saved) => saved.id === id));
}

function isSavedProduct(value: unknown): value is SavedProduct {
  if (typeof value !== 'object' || value === null) return false;
  const { id, name, image } = value as Record<string, unknown>;
  return typeof id === 'string' && typeof name === 'string' && typeof image === 'string';
}
