import { createBrowserStore } from './browser-store.ts';

/** The key that authorizes this browser as the maker of a product. */
interface MakerKey {
  productId: string;
  /** The product's name when the key was stored, or empty if it was unknown. */
  name: string;
  key: string;
}

/** A key is 32 bytes in base64url. The limits allow for keys of other lengths. */
const KEY = /^[\w-]{22,128}$/;

/** The maximum number of stored keys. Beyond it, the least recently stored key is deleted. */
const MAX_ITEMS = 50;

/** The stored keys, latest first. */
export const makerKeys = createBrowserStore<readonly MakerKey[]>('maker_keys', (saved) =>
  Array.isArray(saved) ? saved.filter(isMakerKey) : [],
);

export function makerKeyOf(productId: string): string | undefined {
  return makerKeys.read().find((saved) => saved.productId === productId)?.key;
}

export function saveMakerKey(added: MakerKey): void {
  const others = makerKeys.read().filter(({ productId }) => productId !== added.productId);
  makerKeys.write([added, ...others].slice(0, MAX_ITEMS));
}

export function deleteMakerKey(productId: string): void {
  const others = makerKeys.read().filter((saved) => saved.productId !== productId);
  makerKeys.write(others.length === 0 ? undefined : others);
}

/** Returns the key in the fragment of a maker link. Ignores characters after the key, such as a copied full stop. */
export function makerKeyIn(hash: string): string | undefined {
  const key = /#maker=([\w-]+)/.exec(hash)?.[1] ?? '';
  return KEY.test(key) ? key : undefined;
}

function isMakerKey(value: unknown): value is MakerKey {
  const { productId, name, key } = (value ?? {}) as Partial<Record<keyof MakerKey, unknown>>;
  return typeof productId === 'string' && typeof name === 'string' && typeof key === 'string' && KEY.test(key);
}
