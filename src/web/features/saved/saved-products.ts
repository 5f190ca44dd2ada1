import { createBrowserStore, useBrowserStore } from '../../storage/browser-store.ts';

/** A product's data at the time of saving, which is shown if the product cannot be read. */
export interface SavedProduct {
  id: string;
  name: string;
  image: string;
}

/** The maximum number of saved products, as many as a person is likely to look through. */
export const MAX_SAVED = 100;

/** The saved products, latest first. */
export const savedProducts = createBrowserStore<readonly SavedProduct[]>('saved_products', (stored) =>
  Array.isArray(stored) ? stored.filter(isSavedProduct).slice(0, MAX_SAVED) : [],
);

/** Saves a product. Returns false if `MAX_SAVED` products are already saved. */
export function saveProduct({ id, name, image }: SavedProduct): boolean {
  const others = savedProducts.read().filter((saved) => saved.id !== id);
  if (others.length >= MAX_SAVED) return false;
  savedProducts.write([{ id, name, image }, ...others]);
  return true;
}

export function unsaveProduct(id: string): void {
  const others = savedProducts.read().filter((saved) => saved.id !== id);
  savedProducts.write(others.length > 0 ? others : undefined);
}

export function useIsSaved(id: string): boolean {
  return useBrowserStore(savedProducts, (all) => all.some((saved) => saved.id === id));
}

function isSavedProduct(value: unknown): value is SavedProduct {
  const { id, name, image } = (value ?? {}) as Record<string, unknown>;
  return typeof id === 'string' && typeof name === 'string' && typeof image === 'string';
}
