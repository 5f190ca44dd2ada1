import { fieldOf, PRODUCT_FIELD_NAMES, PRODUCT_FIELDS, TEAM_MEMBER_LIMITS } from '../../../contract/products/fields.ts';
import type { Product, StoredProduct } from '../../../contract/products/schema.ts';
import type { NewSubmission } from '../../../contract/submissions/schema.ts';
import { plural, t, translated } from '../../language/translate.ts';
import { createBrowserStore } from '../../storage/browser-store.ts';
import { randomId } from '../../storage/session.ts';

/** The maker's unsent input. */
export interface Draft {
  name: string;
  description: string;
  tags: readonly string[];
  category: string;
  maker: string;
  team: readonly { name: string; role: string }[];
  /** ISO 8601; empty if the product launches immediately after approval. */
  launchAt: string;
  /** Saved with the input, so sending it again after a reload does not create a second submission. */
  idempotencyKey: string;
}

export const FIELD_NAMES = ['name', 'description', 'tags', 'category', 'maker', 'team', 'launchAt'] as const;

type FieldName = (typeof FIELD_NAMES)[number];

/** An error in a field, worded for the maker. */
export interface FieldError {
  field: string;
  detail: string;
}

/** The field to which an error belongs. The server may name an item of a list, e.g. `team.0.name`. */
export function fieldWith({ field }: FieldError): string {
  return field.split(/\W/, 1)[0] ?? field;
}

export function newDraft(): Draft {
  const idempotencyKey = randomId() ?? `submission-${Date.now()}`;
  return { name: '', description: '', tags: [], category: '', maker: '', team: [], launchAt: '', idempotencyKey };
}

/** The draft of a new submission. It is stored only in this browser and shared by its tabs. */
export const savedDraft = createBrowserStore<Draft | null>('submission_draft', (saved) =>
  isDraft(saved) ? saved : null,
);

/** The submission to send, with trimmed text. */
export function toSubmission({ idempotencyKey: _, launchAt, ...texts }: Draft): NewSubmission {
  const { name, description, tags, category, maker, team } = trimmed(texts);
  return { name, description, tags, category, maker, team, launchAt: launchAt === '' ? null : launchAt };
}

/** The draft of a submitted product. Fields with default values are empty. */
export function toDraft(product: Product, launchAt: string | null): Draft {
  const own = (field: 'description' | 'category' | 'maker') =>
    product[field] === PRODUCT_FIELDS[field].default ? '' : product[field];
  return {
    ...newDraft(),
    name: product.name,
    description: own('description'),
    tags: product.tags,
    category: own('category'),
    maker: own('maker'),
    team: product.team.map(({ name, role }) => ({ name, role })),
    launchAt: launchAt ?? '',
  };
}

/** Each field with its default value; lists are empty. */
const DEFAULTS = Object.fromEntries(
  PRODUCT_FIELD_NAMES.map((name): [string, unknown] => [name, fieldOf(name).default ?? []]),
) as StoredProduct;

/** The product as the list will show it. */
export function toProduct(draft: Draft, image: string, now: number): Product {
  const { name, description, tags, category, maker, team } = trimmed(draft);
  return {
    ...DEFAULTS,
    id: 'preview',
    name: name || t('Your product'),
    description: description || PRODUCT_FIELDS.description.default,
    image,
    tags: [...tags],
    category: category || PRODUCT_FIELDS.category.default,
    maker: maker || PRODUCT_FIELDS.maker.default,
    team: team.map((member) => ({ ...member, avatar: '' })),
    createdAt: new Date(now).toISOString(),
    upvotes: 0,
    comments: 0,
  };
}

/**
 * Checks the contract's limits, and lists errors in the order of the form. The server makes the final decision. A
 * stored launch time is valid even if it has passed.
 */
export function faultsIn(draft: Draft, now: number, storedLaunchAt: string | null = null): FieldError[] {
  const { name, tags, team, ...texts } = trimmed(draft);
  const faults: FieldError[] = [];
  if (name === '') faults.push({ field: 'name', detail: t('Give your product a name.') });
  for (const [field, text] of Object.entries({ name, ...texts }) as ['name', string][]) {
    const { label, maxCharacters } = fieldOf(field);
    const length = characters(text);
    if (length > maxCharacters)
      faults.push({
        field,
        detail: plural(
          '{label}: {count} character too many.',
          '{label}: {count} characters too many.',
          length - maxCharacters,
          { label: translated(label) },
        ),
      });
  }
  const longTag = tags.find((tag) => characters(tag) > PRODUCT_FIELDS.tags.maxCharacters);
  if (tags.length > PRODUCT_FIELDS.tags.maxItems)
    faults.push({ field: 'tags', detail: t('At most {count} tags.', { count: PRODUCT_FIELDS.tags.maxItems }) });
  if (longTag)
    faults.push({
      field: 'tags',
      detail: t('A tag has at most {count} characters.', { count: PRODUCT_FIELDS.tags.maxCharacters }),
    });
  if (team.length > PRODUCT_FIELDS.team.maxItems)
    faults.push({ field: 'team', detail: t('At most {count} people.', { count: PRODUCT_FIELDS.team.maxItems }) });
  if (team.some((member) => member.name === ''))
    faults.push({ field: 'team', detail: t('Each team member needs a name.') });
  if (
    team.some((member) => Math.max(characters(member.name), characters(member.role)) > TEAM_MEMBER_LIMITS.maxCharacters)
  )
    faults.push({
      field: 'team',
      detail: t('A name or a role has at most {count} characters.', { count: TEAM_MEMBER_LIMITS.maxCharacters }),
    });
  if (draft.launchAt !== '' && draft.launchAt !== storedLaunchAt && !(Date.parse(draft.launchAt) > now))
    faults.push({ field: 'launchAt', detail: t('Choose a launch time in the future.') });
  return faults.sort((a, b) => FIELD_NAMES.indexOf(a.field as FieldName) - FIELD_NAMES.indexOf(b.field as FieldName));
}

/** The number of Unicode code points, as the server counts characters. */
export function characters(text: string): number {
  return Array.from(text).length;
}

type Texts = Pick<Draft, 'name' | 'description' | 'category' | 'maker' | 'tags' | 'team'>;

/** Trims all text, and omits empty team members. */
function trimmed({ name, description, category, maker, tags, team }: Texts) {
  return {
    name: name.trim(),
    description: description.trim(),
    category: category.trim(),
    maker: maker.trim(),
    tags: [...tags],
    team: team
      .map((member) => ({ name: member.name.trim(), role: member.role.trim() }))
      .filter((member) => member.name !== '' || member.role !== ''),
  };
}

function isDraft(value: unknown): value is Draft {
  const draft = (value ?? {}) as Partial<Record<keyof Draft, unknown>>;
  return (
    (['name', 'description', 'category', 'maker', 'launchAt', 'idempotencyKey'] as const).every(
      (field) => typeof draft[field] === 'string',
    ) &&
    Array.isArray(draft.tags) &&
    draft.tags.every((tag) => typeof tag === 'string') &&
    Array.isArray(draft.team) &&
    draft.team.every((member) => typeof member?.name === 'string' && typeof member?.role === 'string')
  );
}
