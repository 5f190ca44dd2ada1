import type { Item } from './page-head.ts';

type Check = (value: unknown) => string | undefined;

/**
 * For each type that the site uses, the properties that search engines require or accept, with checks of their values.
 * The sources are the documentation of the search engines and schema.org. Other properties are errors, because search
 * engines silently ignore misspelt ones.
 */
const TYPES: Record<string, { required: Record<string, Check>; optional?: Record<string, Check> }> = {
  WebSite: {
    required: { name: text, url: address, potentialAction: item('SearchAction') },
    optional: { '@id': address, description: text },
  },
  SearchAction: { required: { target: item('EntryPoint'), 'query-input': equal('required name=search_term_string') } },
  EntryPoint: { required: { urlTemplate: (value) => address(String(value).replace('{search_term_string}', 'term')) } },
  ItemList: { required: { itemListElement: consecutive }, optional: { name: text, numberOfItems: count } },
  ListItem: { required: { position: count }, optional: { url: address, name: text, item: address } },
  BreadcrumbList: { required: { itemListElement: consecutive } },
  SoftwareApplication: {
    required: {
      name: text,
      url: address,
      description: text,
      image: listOf(address),
      applicationCategory: text,
      author: item('Organization'),
      interactionStatistic: listOf(item('InteractionCounter')),
      commentCount: count,
    },
    optional: {
      '@id': address,
      keywords: listOf(text),
      award: listOf(text),
      screenshot: listOf(address),
      contributor: listOf(item('Person')),
      comment: listOf(item('Comment')),
    },
  },
  InteractionCounter: {
    required: { interactionType: oneOf(item('LikeAction'), item('CommentAction')), userInteractionCount: count },
  },
  LikeAction: { required: {} },
  CommentAction: { required: {} },
  Organization: { required: { name: text } },
  Person: { required: { name: text }, optional: { jobTitle: text } },
  Comment: { required: { text, author: item('Person'), dateCreated: time, upvoteCount: count } },
};

/** Returns the errors of an item, each with its location, or an empty list if the item is valid. */
export function errorsOf(value: Item, location = value['@type']): string[] {
  const type = TYPES[value['@type']];
  if (!type) return [`${location}: the type ${value['@type']} is unknown`];
  const missing = Object.keys(type.required).filter((name) => !(name in value));
  const checks: Record<string, Check> = { ...type.required, ...type.optional };
  const wrong = Object.entries(value).flatMap(([name, content]) => {
    if (name === '@type') return [];
    const check = checks[name];
    const error = check ? check(content) : 'is not a known property';
    return error === undefined ? [] : [`${location}.${name} ${error}`];
  });
  return [...missing.map((name) => `${location}.${name} is missing`), ...wrong];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? undefined : 'must be a non-empty text';
}

function count(value: unknown): string | undefined {
  return Number.isInteger(value) && Number(value) >= 0 ? undefined : 'is not a count';
}

function address(value: unknown): string | undefined {
  return typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value)
    ? undefined
    : `is not an absolute URL: ${value}`;
}

function time(value: unknown): string | undefined {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? undefined : 'is not an ISO 8601 time';
}

function equal(wanted: string): Check {
  return (value) => (value === wanted ? undefined : `is not '${wanted}'`);
}

function item(type: string): Check {
  return (value) => {
    const inner = value as Item;
    if (inner?.['@type'] !== type) return `is not of the type ${type}`;
    return errorsOf(inner).join('; ') || undefined;
  };
}

function oneOf(...checks: Check[]): Check {
  return (value) => (checks.some((check) => check(value) === undefined) ? undefined : 'has none of the allowed types');
}

function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value) || value.length === 0) return 'must be a non-empty list';
    return value.map(check).find((error) => error !== undefined);
  };
}

/** Checks that a value is a list of items with consecutive positions. @returns the error, if any. */
function consecutive(value: unknown): string | undefined {
  const error = listOf(item('ListItem'))(value);
  if (error !== undefined) return error;
  const positions = (value as { position: number }[]).map(({ position }) => position);
  return positions.every((position, index) => position === (positions[0] ?? 0) + index)
    ? undefined
    : 'does not have consecutive positions';
}
