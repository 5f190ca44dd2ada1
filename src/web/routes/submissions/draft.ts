import type { FieldError } from '../../../contract/problem.ts';
import {
  fieldOf,
  MAKER_FIELDS,
  MAKER_TEXTS,
  type MakerText,
  PRODUCT_FIELD_NAMES,
  PRODUCT_FIELDS,
  TEAM_MEMBER_LIMITS,
} from '../../../contract/products/fields.ts';
import type { Product, StoredProduct } from '../../../contract/products/schema.ts';
import type { NewSubmission, Submission } from '../../../contract/submissions/schema.ts';
import { plural, t, translated } from '../../language/translate.ts';
import { createBrowserStore } from '../../storage/browser-store.ts';
import { randomId } from '../../storage/session.ts';
import { formatTime, visitorTimeZone } from './times.ts';

/** The maker's unsent input. */
export interface Draft extends Record<MakerText, string> {
  tags: readonly string[];
  team: readonly { name: string; role: string }[];
  /** An ISO 8601 time, or empty for a launch immediately after approval, or 'incomplete' if no time is entered. */
  launchAt: string;
  /** Stored with the input, so sending it again after a reload does not create a second submission. */
  idempotencyKey: string;
}

/** Returns the name of the form field to which an error belongs: the first part of a path such as `team.0.name`. */
export function fieldWith({ field }: FieldError): string {
  return field.split(/\W/, 1)[0] ?? field;
}

export function newDraft(): Draft {
  const idempotencyKey = randomId() ?? `submission-${Date.now()}`;
  return { ...textsOf(() => ''), tags: [], team: [], launchAt: '', idempotencyKey };
}

function textsOf(read: (field: MakerText) => string): Record<MakerText, string> {
  return Object.fromEntries(MAKER_TEXTS.map((field) => [field, read(field)])) as Record<MakerText, string>;
}

/** The draft of a new submission. It is stored only in this browser and shared by its tabs. */
export const savedDraft = createBrowserStore('submission_draft', (saved) => {
  const draft = readDraft(saved, newDraft());
  return isEmpty(draft) ? null : draft;
});

/** Stores the draft of a new submission, or deletes the stored one if the maker has emptied the form. */
export function saveDraft(draft: Draft): void {
  savedDraft.write(isEmpty(draft) ? undefined : draft);
}

function isEmpty(draft: Draft): boolean {
  return JSON.stringify(toSubmission(draft)) === JSON.stringify(toSubmission(newDraft()));
}

/** Returns the submission to send, with trimmed text. */
export function toSubmission(draft: Draft): NewSubmission {
  return { ...trimmed(draft), launchAt: draft.launchAt === '' ? null : draft.launchAt };
}

/** Returns the draft of a submission. Fields with default values are empty, except the name, which makers must set. */
export function draftOf({ product, launchAt }: Pick<Submission, 'product' | 'launchAt'>): Draft {
  return {
    ...newDraft(),
    // A submission that an earlier version of the site has stored in the browser may lack a text.
    ...textsOf((field) => (product[field] === PRODUCT_FIELDS[field].default ? '' : (product[field] ?? ''))),
    name: product.name,
    tags: product.tags,
    team: product.team.map(({ name, role }) => ({ name, role })),
    launchAt: launchAt ?? '',
  };
}

/**
 * Errors quote only the beginning of long values, because screen readers read an error when its field gets the focus.
 */
const LONG_VALUE = /^(.{200}).+$/su;

const DRAFT_FIELDS = [...MAKER_FIELDS, 'launchAt'] as const;

/**
 * Applies the maker's changes since `before` to the latest version. If someone else has changed the same field, the
 * maker's value stays in the draft, and an error shows the other value.
 */
export function rebase(draft: Draft, before: Draft, latest: Draft): { draft: Draft; conflicts: FieldError[] } {
  let rebased = draft;
  const conflicts: FieldError[] = [];
  for (const field of DRAFT_FIELDS) {
    const valueIn = (each: Draft) => JSON.stringify({ ...trimmed(each), launchAt: each.launchAt }[field]);
    if (valueIn(draft) === valueIn(before)) rebased = { ...rebased, [field]: latest[field] };
    else if (valueIn(latest) !== valueIn(before) && valueIn(latest) !== valueIn(draft)) {
      const value = shownValue(latest, field).replace(LONG_VALUE, '$1…') || '–';
      conflicts.push({ field, detail: t('In the meantime, this was changed to: {value}', { value }) });
    }
  }
  return { draft: rebased, conflicts };
}

function shownValue({ tags, team, launchAt, ...texts }: Draft, field: (typeof DRAFT_FIELDS)[number]): string {
  if (field === 'tags') return tags.join(t(', '));
  if (field === 'team') return teamText(team);
  if (field !== 'launchAt') return texts[field];
  return launchAt === '' ? t('As soon as it is approved') : formatTime(launchAt, visitorTimeZone());
}

/** Returns the names and roles of a team in one line. */
export function teamText(team: Draft['team']): string {
  return team.map(({ name, role }) => (role ? name + t(', ') + role : name)).join(' · ');
}

/** The default of each field, and empty lists. `toProduct` sets the id and the time, which have no default. */
const DEFAULTS = Object.fromEntries(
  PRODUCT_FIELD_NAMES.map((name): [string, unknown] => [name, fieldOf(name).default ?? []]),
) as StoredProduct;

/** Returns the product as the list will show it. */
export function toProduct(draft: Draft, image: string, now: number): Product {
  const { tags, team, ...texts } = trimmed(draft);
  return {
    ...DEFAULTS,
    ...textsOf((field) => texts[field] || PRODUCT_FIELDS[field].default),
    id: 'preview',
    name: texts.name || t('Your product'),
    image,
    tags,
    team: team.map((member) => ({ ...member, avatar: '' })),
    createdAt: new Date(now).toISOString(),
    upvotes: 0,
    comments: 0,
  };
}

/**
 * Returns the errors in a draft. This is only early feedback, because the server checks the submission again. Only the
 * server checks whether the launch time has passed, because the browser's clock may be wrong.
 */
export function errorsIn(draft: Draft): FieldError[] {
  const { tags, team, ...texts } = trimmed(draft);
  const errors: FieldError[] = [];
  if (texts.name === '') errors.push({ field: 'name', detail: t('Give your product a name.') });
  for (const field of MAKER_TEXTS) {
    const { label, maxCharacters } = fieldOf(field);
    const length = countCharacters(texts[field]);
    if (length > maxCharacters)
      errors.push({
        field,
        detail: plural(
          '{label}: {count} character too many.',
          '{label}: {count} characters too many.',
          length - maxCharacters,
          { label: translated(label) },
        ),
      });
  }
  const longTag = tags.find((tag) => countCharacters(tag) > PRODUCT_FIELDS.tags.maxCharacters);
  if (tags.length > PRODUCT_FIELDS.tags.maxItems)
    errors.push({ field: 'tags', detail: t('At most {count} tags.', { count: PRODUCT_FIELDS.tags.maxItems }) });
  if (longTag)
    errors.push({
      field: 'tags',
      detail: t('A tag has at most {count} characters.', { count: PRODUCT_FIELDS.tags.maxCharacters }),
    });
  if (team.length > PRODUCT_FIELDS.team.maxItems)
    errors.push({ field: 'team', detail: t('At most {count} people.', { count: PRODUCT_FIELDS.team.maxItems }) });
  if (team.some((member) => member.name === ''))
    errors.push({ field: 'team', detail: t('Each team member needs a name.') });
  if (
    team.some(
      (member) =>
        Math.max(countCharacters(member.name), countCharacters(member.role)) > TEAM_MEMBER_LIMITS.maxCharacters,
    )
  )
    errors.push({
      field: 'team',
      detail: t('A name or a role has at most {count} characters.', { count: TEAM_MEMBER_LIMITS.maxCharacters }),
    });
  if (draft.launchAt !== '' && Number.isNaN(Date.parse(draft.launchAt)))
    errors.push({ field: 'launchAt', detail: t('Choose a launch time in the future.') });
  return errors;
}

/** Returns the number of Unicode code points, as the server counts characters. */
export function countCharacters(text: string): number {
  return Array.from(text).length;
}

/** Returns the fields with trimmed text and without empty team members. */
function trimmed(draft: Draft) {
  return {
    ...textsOf((field) => draft[field].trim()),
    tags: [...draft.tags],
    team: draft.team
      .map((member) => ({ name: member.name.trim(), role: member.role.trim() }))
      .filter((member) => member.name !== '' || member.role !== ''),
  };
}

/**
 * Returns the valid fields of a stored draft, and the others from `fallback`. A draft that an earlier version of the site
 * has stored may lack a field.
 */
export function readDraft(stored: unknown, fallback: Draft): Draft {
  let draft = fallback;
  for (const field of Object.keys(fallback)) {
    const next: unknown = { ...draft, [field]: (stored as Record<string, unknown> | null)?.[field] };
    if (isDraft(next)) draft = next;
  }
  return draft;
}

export function isDraft(value: unknown): value is Draft {
  const draft = (value ?? {}) as Partial<Record<keyof Draft, unknown>>;
  return (
    ([...MAKER_TEXTS, 'launchAt', 'idempotencyKey'] as const).every((field) => typeof draft[field] === 'string') &&
    Array.isArray(draft.tags) &&
    draft.tags.every((tag) => typeof tag === 'string') &&
    Array.isArray(draft.team) &&
    draft.team.every((member) => typeof member?.name === 'string' && typeof member?.role === 'string')
  );
}
