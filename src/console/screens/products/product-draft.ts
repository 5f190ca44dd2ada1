import { fieldOf, PRODUCT_FIELD_NAMES } from '../../../contract/products/fields.ts';
import type { Product, TeamMember } from '../../../contract/products/schema.ts';
import type { Edit } from '../../api/actions.ts';

/** The text of each editable field of a product, in the format of `draftOf`. */
export type Draft = Edit['draft'];
export type DraftField = keyof Draft;

/** The fields that accept uploaded pictures. */
export type PictureField = 'image' | 'screenshots';

export const DRAFT_FIELDS = PRODUCT_FIELD_NAMES.filter((name): name is DraftField => name !== 'id');

/**
 * Returns the draft of a product. Tags are a comma-separated list, or a JSON array if the list would be ambiguous.
 * Screenshots are one URL per line, and the team is JSON, because names may contain any character.
 */
export function draftOf(product: Product): Draft {
  return Object.fromEntries(DRAFT_FIELDS.map((name) => [name, textOf(product, name)])) as Draft;
}

function textOf(product: Product, name: DraftField): string {
  const value = product[name];
  if (name === 'createdAt') return String(value).slice(0, 16);
  if (typeof value === 'string') return value;
  if (name === 'team') return teamText(product.team);
  if (name === 'tags') return tagsText(product.tags);
  return (value as string[]).join('\n');
}

function tagsText(tags: readonly string[]): string {
  const text = tags.join(', ');
  const json = JSON.stringify(tags);
  return JSON.stringify(tagsOf(text)) === json ? text : json;
}

/** Parses tags: a JSON array of strings, or text with commas or line breaks between the tags. */
function tagsOf(text: string): string[] {
  return (
    tagsInJson(text) ??
    text
      .split(/[,\n]/)
      .map((item) => item.trim())
      .filter(Boolean)
  );
}

function tagsInJson(text: string): string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the team members of a draft. */
export function membersOf({ team }: Pick<Draft, 'team'>): TeamMember[] {
  return JSON.parse(team) as TeamMember[];
}

/** The inverse of `membersOf`. The order of the properties is fixed, so equal teams have equal strings. */
export function teamText(team: readonly TeamMember[]): string {
  return JSON.stringify(team.map(({ name, role, avatar }) => ({ name, role, avatar })));
}

/** Returns the text of a field for display. Only the team, which the draft contains as JSON, is converted. */
export function shownText(name: DraftField, text: string): string {
  if (name !== 'team') return text;
  return membersOf({ team: text })
    .map((member) => [member.name, member.role, member.avatar].filter(Boolean).join(', '))
    .join('\n');
}

/** Returns the changed fields, with their values for the API. */
export function changesOf(before: Draft, draft: Draft): Record<string, unknown> {
  return Object.fromEntries(changedFields(before, draft).map((name) => [name, fieldValue(name, draft[name])]));
}

/** Returns `latest` with the fields that `draft` has changed since `before`. */
export function withChanges(latest: Draft, before: Draft, draft: Draft): Draft {
  return { ...latest, ...Object.fromEntries(changedFields(before, draft).map((name) => [name, draft[name]])) };
}

function changedFields(before: Draft, draft: Draft): readonly DraftField[] {
  return DRAFT_FIELDS.filter((name) => draft[name] !== before[name]);
}

/** Converts the text of an input to the value of its field. */
export function fieldValue(name: DraftField, text: string): unknown {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  switch (fieldOf(name).kind) {
    case 'time':
      // The input has no time zone, and the console uses UTC.
      return text === '' ? '' : `${text}Z`;
    case 'texts':
      return tagsOf(text);
    case 'addresses':
      return lines;
    case 'team':
      // Members that were added and left empty are omitted.
      return membersOf({ team: text }).filter((member) => Object.values(member).some((value) => value.trim() !== ''));
    default:
      return text;
  }
}

/** Adds an uploaded picture as the image or as the last screenshot. */
export function withPicture(draft: Draft, name: PictureField, address: string): Draft {
  const screenshots = [...(fieldValue('screenshots', draft.screenshots) as string[]), address].join('\n');
  return name === 'image' ? { ...draft, image: address } : { ...draft, screenshots };
}

/** Returns the product with the fields of the draft that the preview shows. */
export function previewOf(product: Product, draft: Draft): Product {
  return {
    ...product,
    name: draft.name || (fieldOf('name').default ?? ''),
    description: draft.description || (fieldOf('description').default ?? ''),
    image: completeAddress(draft.image),
    tags: tagsOf(draft.tags),
  };
}

/** Returns the URL of a picture, or an empty string if it is incomplete. The server rejects other invalid URLs. */
export function completeAddress(text: string): string {
  return /^(?:https?:\/\/.|\/.|data:image\/)/i.test(text) ? text : '';
}
