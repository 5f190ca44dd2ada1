import { fieldOf, PRODUCT_FIELD_NAMES, type ProductFieldName } from '../../../contract/products/fields.ts';
import type { Product, TeamMember } from '../../../contract/products/schema.ts';

/** The fields that a form edits, each as the text in its box. */
export type DraftField = Exclude<ProductFieldName, 'id'>;
export type Draft = Record<DraftField, string>;

/** The fields that take uploaded pictures. */
export type PictureField = 'image' | 'screenshots';

export const DRAFT_FIELDS = PRODUCT_FIELD_NAMES.filter((name): name is DraftField => name !== 'id');

/** A product as texts: lists have one item per line, and team members are `name, role, picture`. */
export function draftOf(product: Product): Draft {
  return Object.fromEntries(DRAFT_FIELDS.map((name) => [name, textOf(product, name)])) as Draft;
}

function textOf(product: Product, name: DraftField): string {
  const value = product[name];
  if (name === 'createdAt') return String(value).slice(0, 16);
  if (typeof value === 'string') return value;
  if (name === 'team') return product.team.map(memberText).join('\n');
  return (value as string[]).join(name === 'tags' ? ', ' : '\n');
}

function memberText({ name, role, avatar }: TeamMember): string {
  return [name, role, avatar].filter(Boolean).join(' | ');
}

/** The changed fields, with their values for the API. */
export function changesOf(before: Draft, draft: Draft): Record<string, unknown> {
  const changed = DRAFT_FIELDS.filter((name) => draft[name] !== before[name]);
  return Object.fromEntries(changed.map((name) => [name, fieldValue(name, draft[name])]));
}

/** A text as the value of its field. */
export function fieldValue(name: DraftField, text: string): unknown {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  switch (fieldOf(name).kind) {
    case 'time':
      // The box has no time zone; the console uses UTC.
      return text === '' ? '' : `${text}Z`;
    case 'texts':
      return text
        .split(/[,\n]/)
        .map((item) => item.trim())
        .filter(Boolean);
    case 'addresses':
      return lines;
    case 'team':
      return lines.map((line) => {
        const [name = '', role = '', avatar = ''] = line.split('|').map((part) => part.trim());
        return { name, role, avatar };
      });
    default:
      return text;
  }
}

/** Adds an uploaded picture: as the image, or after the screenshots. */
export function withPicture(draft: Draft, name: PictureField, address: string): Draft {
  const screenshots = [...(fieldValue('screenshots', draft.screenshots) as string[]), address].join('\n');
  return name === 'image' ? { ...draft, image: address } : { ...draft, screenshots };
}

/** The product that the draft would produce, for the preview. */
export function previewOf(product: Product, draft: Draft): Product {
  return {
    ...product,
    name: draft.name || (fieldOf('name').default ?? ''),
    description: draft.description || (fieldOf('description').default ?? ''),
    // An incomplete URL is omitted; saving rejects other invalid ones.
    image: /^(?:https?:\/\/.|\/.|data:image\/)/i.test(draft.image) ? draft.image : '',
    category: draft.category,
    maker: draft.maker,
    tags: fieldValue('tags', draft.tags) as string[],
  };
}
