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

/**
 * The fields that a maker can set. Blank texts are replaced by the defaults of products when the submission is shown.
 */
export type SubmissionFields = Omit<StoredProduct, 'id' | 'createdAt' | 'launchDate'>;

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
 * Trims the fields that a maker sent and checks them against the limits of products.
 * @throws CoreError `submission_invalid` with the errors of all fields.
 */
export function checkFields(patch: Omit<SubmissionPatch, 'revision' | 'productVersion'>, now: Date): CheckedPatch {
  const faults: FieldError[] = [];
  const fault = (field: string, detail: string) => faults.push({ field, detail });
  const fields: Partial<SubmissionFields> = {};
  for (const field of MAKER_TEXTS) {
    const text = patch[field];
    if (text === undefined) continue;
    fields[field] = text.trim();
    const { maxCharacters } = fieldOf(field);
    if (isLongerThan(text.trim(), maxCharacters))
      fault(field, `This is longer than ${formatCount(maxCharacters)} characters.`);
  }
  if (fields.name !== undefined && !isVisible(fields.name)) fault('name', 'The product needs a name.');
  if (patch.tags) fields.tags = checkTags(patch.tags, fault);
  if (patch.team) fields.team = checkTeam(patch.team, fault);
  const { launchAt: text } = patch;
  const launchAt = typeof text === 'string' ? checkLaunchAt(text, now, fault) : text;
  if (faults.length > 0) throw invalidSubmission(faults);
  return { fields, ...(launchAt === undefined ? {} : { launchAt }) };
}

export function invalidSubmission(faults: readonly FieldError[]): CoreError {
  const names = [...new Set(faults.map(({ field }) => field))].join(', ');
  return new CoreError('submission_invalid', `Please correct: ${names}.`, { fields: faults });
}

type Fault = (field: ProductFieldName | 'launchAt', detail: string) => void;

function checkTags(sent: readonly string[], fault: Fault): string[] {
  const { maxItems, maxCharacters } = PRODUCT_FIELDS.tags;
  const tags = [...new Set(sent.map((tag) => tag.trim()).filter((tag) => isVisible(tag)))];
  if (tags.length > maxItems) fault('tags', `A product can have at most ${maxItems} tags.`);
  const long = tags.find((tag) => isLongerThan(tag, maxCharacters));
  if (long !== undefined) fault('tags', `The tag '${shorten(long)}' has more than ${maxCharacters} characters.`);
  return tags;
}

function checkTeam(sent: readonly { name: string; role?: string }[], fault: Fault): TeamMember[] {
  const { maxItems } = PRODUCT_FIELDS.team;
  const { maxCharacters } = TEAM_MEMBER_LIMITS;
  const team = sent.map(({ name, role = '' }) => ({
    name: name.trim(),
    avatar: COMMENT_DEFAULTS.authorAvatar,
    role: role.trim(),
  }));
  if (team.length > maxItems) fault('team', `A team can have at most ${maxItems} members.`);
  if (team.some(({ name }) => !isVisible(name))) fault('team', 'Each team member needs a name.');
  const long = team.find(({ name, role }) => isLongerThan(name, maxCharacters) || isLongerThan(role, maxCharacters));
  if (long) fault('team', `The name or role of '${shorten(long.name)}' has more than ${maxCharacters} characters.`);
  return team;
}

/** Matches times with an offset. Times without an offset would be ambiguous. */
const WITH_OFFSET = /T\d.*(?:z|[+-]\d{2}:?\d{2})$/i;

/** No time is longer. Longer texts are not matched, because the regular expressions take quadratic time. */
const MAX_TIME_CHARACTERS = 100;

function checkLaunchAt(text: string, now: Date, fault: Fault): Date | undefined {
  const isTime = text.length <= MAX_TIME_CHARACTERS && WITH_OFFSET.test(text.trim());
  const read = isTime ? readDate(text) : undefined;
  if (read === undefined || read === 'impossible') {
    fault('launchAt', 'Use a time with a UTC offset, such as 2026-12-01T09:00:00Z.');
    return undefined;
  }
  const launchAt = new Date(read);
  if (launchAt.getTime() <= now.getTime()) fault('launchAt', TIME_PASSED);
  if (launchAt.getTime() > now.getTime() + SUBMISSION_LIMITS.launchAheadDays * DAY_MS) {
    fault('launchAt', `A launch can be at most ${SUBMISSION_LIMITS.launchAheadDays} days ahead.`);
  }
  return launchAt;
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length > 30 ? `${characters.slice(0, 30).join('')}…` : text;
}
