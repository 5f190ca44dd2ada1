import { fieldOf, PRODUCT_FIELD_NAMES } from '../../src/contract/products/fields.ts';

/**
 * Returns all declared fields of a product with their defaults, so exact expectations need no change for new fields.
 */
export function declaredDefaults(id: string, createdAt: string): Record<string, unknown> {
  const defaultOf = (name: (typeof PRODUCT_FIELD_NAMES)[number]) => {
    const { kind, default: text } = fieldOf(name);
    if (kind === 'id') return id;
    return kind === 'time' ? createdAt : (text ?? []);
  };
  return Object.fromEntries(PRODUCT_FIELD_NAMES.map((name) => [name, defaultOf(name)]));
}
