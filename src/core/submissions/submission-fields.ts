import { COMMENT_DEFAULTS } from '../../contract/comments/defaults.ts';
import type { FieldError } from '../../contract/problem.ts';
import {
  fieldOf,
  MAKER_TEXTS,
  PRODUCT_FIELD_NAMES,
  PRODUCT_FIELDS,
  type ProductFieldName,
  TEAM_MEMBER_LIMITS,
} from '../../contract/products/fields.ts';
import type { StoredProduct, TeamMember } from '../../contract/products/schema.ts';
import { SUBMISSION_LIMITS, TIME_PASSED } from '../../contract/submissions/limits.ts';
import type { SubmissionPatch } from '../../contract/submissions/schema.ts';
import { formatCount, isLongerThan, isVisible } from '../../contract/text.ts';
import { CoreError } from '../core-error.ts';
import { readDate } from '../imports/read-values.ts';
import { DAY_MS } from '../runtime.ts';

/** The fields that a maker can set. Blank texts stay blank until `productOfFields` sets the defaults of products. */
export type SubmissionFields = Omit<StoredProduct, 'id' | 'createdAt' | 'launchDate'> & {
  /** The launch date of the product, if an operator set one other than the day of the launch. */
  launchDate?: string;
};

/** Validated fields. Fields that were not sent are unset. */
export interface CheckedPatch {
  fields: Partial<SubmissionFields>;
  /** Unset if the launch time was not sent; `null` if approval launches the product immediately. */
  launchAt?: Date | null;
}

const NOT_SET_BY_MAKERS: readonly ProductFieldName[] = ['id', 'createdAt', 'launchDate'];

/** All fields that makers can set, with empty texts and lists. */
export const NO_FIELDS = Object.fromEntries(
  PRODUCT_FIELD_NAMES.filter((name) => !NOT_SET_BY_MAKERS.includes(name)).map((name): [string, unknown] => [
    name,
    fieldOf(name).maxItems === undefined ? '' : [],
  ]),
) as SubmissionFields;

/**
 * Cleans the fields that a maker sent and checks them against the limits of products.
 * @throws CoreError `submission_invalid` with the errors of all fields.
 */
export function checkFields(patch: Omit<SubmissionPatch, 'revision' | 'productVersion'>, now: Date): CheckedPatch {
  const errors: FieldError[] = [];
  const report = (field: string, detail: string) => errors.push({ field, detail });
  const fields: Partial<SubmissionFields> = {};
  for (const field of MAKER_TEXTS) {
    const text = patch[field];
    if (text === undefined) continue;
    const cleaned = clean(text);
    fields[field] = cleaned;
    const { maxCharacters } = fieldOf(field);
    if (isLongerThan(cleaned, maxCharacters))
      report(field, `This is longer than ${formatCount(maxCharacters)} characters.`);
  }
  if (fields.name !== undefined && !isVisible(fields.name)) report('name', 'The product needs a name.');
  if (patch.tags) fields.tags = checkTags(patch.tags, report);
  if (patch.team) fields.team = checkTeam(patch.team, report);
  const { launchAt: text } = patch;
  const launchAt = typeof text === 'string' ? checkLaunchAt(text, now, report) : text;
  if (errors.length > 0) throw invalidSubmission(errors);
  return { fields, ...(launchAt === undefined ? {} : { launchAt }) };
}

export function invalidSubmission(errors: readonly FieldError[]): CoreError {
  const names = [...new Set(errors.map(({ field }) => field))].join(', ');
  return new CoreError('submission_invalid', `Please correct: ${names}.`, { fields: errors });
}

type Report = (field: ProductFieldName | 'launchAt', detail: string) => void;

function checkTags(sent: readonly string[], report: Report): string[] {
  const { maxItems, maxCharacters } = PRODUCT_FIELDS.tags;
  const tags = [...new Set(sent.map(clean).filter((tag) => isVisible(tag)))];
  if (tags.length > maxItems) report('tags', `A product can have at most ${maxItems} tags.`);
  const long = tags.find((tag) => isLongerThan(tag, maxCharacters));
  if (long !== undefined) report('tags', `The tag '${shorten(long)}' has more than ${maxCharacters} characters.`);
  return tags;
}

function checkTeam(sent: readonly { name: string; role?: string }[], report: Report): TeamMember[] {
  const { maxItems } = PRODUCT_FIELDS.team;
  const { maxCharacters } = TEAM_MEMBER_LIMITS;
  const team = sent.map(({ name, role = '' }) => ({
    name: clean(name),
    avatar: COMMENT_DEFAULTS.authorAvatar,
    role: clean(role),
  }));
  if (team.length > maxItems) report('team', `A team can have at most ${maxItems} members.`);
  if (team.some(({ name }) => !isVisible(name))) report('team', 'Each team member needs a name.');
  const long = team.find(({ name, role }) => isLongerThan(name, maxCharacters) || isLongerThan(role, maxCharacters));
  if (long) report('team', `The name or role of '${shorten(long.name)}' has more than ${maxCharacters} characters.`);
  return team;
}

/** Matches times with an offset. Times without an offset would be ambiguous. */
const WITH_OFFSET = /T\d.*(?:z|[+-]\d{2}:?\d{2})$/i;

/** Longer texts cannot be times. They are not matched, because the regular expressions take quadratic time. */
const MAX_TIME_CHARACTERS = 100;

function checkLaunchAt(text: string, now: Date, report: Report): Date | undefined {
  const isTime = text.length <= MAX_TIME_CHARACTERS && WITH_OFFSET.test(text.trim());
  const read = isTime ? readDate(text) : undefined;
  if (read === undefined || read === 'impossible') {
    report('launchAt', 'Use a time with a UTC offset, such as 2026-12-01T09:00:00Z.');
    return undefined;
  }
  const launchAt = new Date(read);
  if (launchAt.getTime() <= now.getTime()) report('launchAt', TIME_PASSED);
  if (launchAt.getTime() > now.getTime() + SUBMISSION_LIMITS.launchAheadDays * DAY_MS) {
    report('launchAt', `A launch can be at most ${SUBMISSION_LIMITS.launchAheadDays} days ahead.`);
  }
  return launchAt;
}

/**
 * Trims a text and removes the characters that override its direction. In titles, sentences and the audit log, U+202E
 * would also reverse the text that follows.
 */
function clean(text: string): string {
  return text.replaceAll(/[\u202a-\u202e]/g, '').trim();
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length > 30 ? `${characters.slice(0, 30).join('')}…` : text;
}
