import fc, { type Arbitrary } from 'fast-check';
import { type DescribedOperation, type JsonSchema, type OpenApi, type Parameter, resolve } from '../support/openapi.ts';
import { BROKEN_UTF8, HOSTILE_BODIES } from './bodies.ts';
import { HOSTILE } from './corpus.ts';

export interface MadeRequest {
  method: string;
  /** The path and the query, encoded. */
  url: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}

/** Returns values that exist on the site, by the name of a parameter or of a body field. */
export type Known = (name: string) => readonly string[] | undefined;

const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE.map(({ text }) => text)),
  fc.string({ unit: 'binary', maxLength: 300, size: 'max' }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    '',
    ',',
    'a,'.repeat(101),
    '-1',
    '0',
    '101',
    '1.5',
    '1e1',
    '+1',
    '0x1f',
    'NaN',
    '٣',
    ' 5',
    '9'.repeat(30),
  ),
);

/** Typos in a valid value. `at` is a position in the value, and `character` is a character to insert there. */
const TYPOS: ((text: string, at: number, character: string) => string)[] = [
  (text, at) => text.slice(0, at) + text.slice(at + 1),
  (text, at, character) => text.slice(0, at) + character + text.slice(at),
  (text, at, character) => text.slice(0, at) + character + text.slice(at + 1),
  (text) => text.toUpperCase(),
  (text) => ` ${text} `,
  (text) => text + text,
  (text) => text.repeat(30),
];

function nearly(valid: Arbitrary<string>): Arbitrary<string> {
  return fc
    .tuple(valid, fc.constantFrom(...TYPOS), fc.nat(), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }))
    .map(([text, typo, at, character]) => typo(text, at % (text.length + 1), character));
}

function valid(
  name: string,
  { schema, example }: Pick<Parameter, 'schema' | 'example'>,
  known: Known,
): Arbitrary<string> {
  const values = known(name) ?? schema.enum;
  if (values !== undefined) return fc.constantFrom(...values);
  const { type, minimum = 0, maximum = 100 } = schema;
  if (type === 'integer') return fc.integer({ min: minimum, max: maximum }).map(String);
  const examples = fc.constantFrom(...(example === undefined ? ['text'] : [String(example)]));
  if (schema.pattern !== undefined) return examples;
  return fc.oneof(examples, fc.string({ unit: 'grapheme', maxLength: Math.min(schema.maxLength ?? 40, 40) }));
}

/** Returns mostly valid values, so a request gets far enough to test its other values. */
function anyOf(good: Arbitrary<string>): Arbitrary<string> {
  return fc.oneof(
    { weight: 8, arbitrary: good },
    { weight: 2, arbitrary: nearly(good) },
    { weight: 2, arbitrary: hostileText },
  );
}

/** Returns one value, no value if that is possible, or several values of a query parameter. */
function given(parameter: Parameter, known: Known): Arbitrary<string[]> {
  const value = anyOf(valid(parameter.name, parameter, known));
  const one = value.map((text) => [text]);
  if (parameter.in === 'path') return one;
  const none = fc.constant<string[]>([]);
  if (parameter.in === 'header') return fc.oneof({ weight: parameter.required ? 9 : 1, arbitrary: one }, none);
  return fc.oneof(
    { weight: parameter.required ? 12 : 4, arbitrary: one },
    { weight: 4, arbitrary: none },
    { weight: 1, arbitrary: fc.array(value, { minLength: 2, maxLength: 3 }) },
  );
}

/** Encodes a text for a URL like a naive client. A lone surrogate has no valid UTF-8 encoding. */
export function encode(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80';
}

const brokenEncoding = fc.constantFrom('%', '%zz', '%ff', '%c0%ae', '%00', '%2f', '%u0041');
const encoded = (text: string): Arbitrary<string> =>
  fc.oneof({ weight: 30, arbitrary: fc.constant(encode(text)) }, { weight: 1, arbitrary: brokenEncoding });

/** Replaces characters that no client can send in a header. */
const sendable = (text: string) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?');

function fieldsOf(schema: JsonSchema, example: Record<string, unknown>, known: Known): Arbitrary<object> {
  const fields = Object.entries(schema.properties ?? {}).map(([name, part]) => {
    const good = valid(name, { schema: part, example: example[name] ?? '' }, known);
    const likely =
      part.type === 'array' ? fc.array<unknown>(anyOf(fc.constant('text')), { maxLength: 3 }) : anyOf(good);
    const value = fc.oneof({ weight: 9, arbitrary: likely }, { weight: 1, arbitrary: fc.jsonValue() });
    return [name, value] as const;
  });
  const required = Object.keys(example);
  return fc.oneof(
    { weight: 6, arbitrary: fc.record(Object.fromEntries(fields), { requiredKeys: required }) },
    { weight: 1, arbitrary: fc.record(Object.fromEntries(fields), { requiredKeys: [] }) },
  );
}

interface Body {
  content: string | Buffer | undefined;
  type: string | undefined;
}

function bodiesOf(openApi: OpenApi, { requestBody }: DescribedOperation, known: Known): Arbitrary<Body> {
  const hostile = fc.record({
    content: fc.oneof<Arbitrary<string | Buffer>[]>(
      fc.constantFrom(...[...HOSTILE_BODIES, ...BROKEN_UTF8].map(({ body }) => body)),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      hostileText,
    ),
    type: fc.oneof(
      { weight: 4, arbitrary: fc.constant('application/json') },
      fc.constantFrom('text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/xml', ''),
      hostileText.map(sendable),
    ),
  });
  const none = fc.constant<Body>({ content: undefined, type: undefined });
  if (requestBody === undefined) return fc.oneof({ weight: 9, arbitrary: none }, { weight: 1, arbitrary: hostile });
  const [[type, { schema, example }] = ['', { schema: {}, example: {} }]] = Object.entries(requestBody.content);
  if (type.startsWith('image/')) {
    const picture = fc
      .uint8Array({ maxLength: 300, size: 'max' })
      .map((bytes) => ({ content: Buffer.from(bytes), type }));
    return fc.oneof(
      { weight: 9, arbitrary: picture },
      { weight: 2, arbitrary: hostile },
      { weight: 1, arbitrary: none },
    );
  }
  const good = fieldsOf(resolve(openApi, schema), example, known).map((body) => ({
    content: JSON.stringify(body),
    type,
  }));
  return fc.oneof({ weight: 9, arbitrary: good }, { weight: 2, arbitrary: hostile }, { weight: 1, arbitrary: none });
}

const AUTHORIZATION: Parameter = { name: 'Authorization', in: 'header', required: true, schema: { type: 'string' } };

/** Returns valid, nearly valid and hostile requests to an operation, based only on its description. */
export function requestsTo(openApi: OpenApi, path: string, method: string, known: Known): Arbitrary<MadeRequest> {
  const operation = openApi.paths[path]?.[method];
  if (operation === undefined) throw new Error(`The OpenAPI document has no operation ${method} ${path}`);
  const parameters = [
    ...operation.parameters.map((part) => resolve<Parameter>(openApi, part)),
    ...(operation.security ?? []).filter((scheme) => 'MakerKey' in scheme).map(() => AUTHORIZATION),
  ];
  const values = fc.tuple(...parameters.map((parameter) => given(parameter, known)));
  const extra = fc.oneof({ weight: 19, arbitrary: fc.constant('') }, { weight: 1, arbitrary: hostileText });
  const mayHaveBody = method !== 'get';
  const body = mayHaveBody
    ? bodiesOf(openApi, operation, known)
    : fc.constant<Body>({ content: undefined, type: undefined });
  return fc.tuple(values, extra, body).chain(([texts, unknown, { content, type }]) => {
    const pairs = parameters.flatMap((parameter, index) =>
      (texts[index] ?? []).map((value) => ({ name: parameter.name, place: parameter.in, value })),
    );
    const inUrl = pairs.filter(({ place }) => place !== 'header');
    return fc.tuple(...inUrl.map(({ value }) => encoded(value))).map((written) => {
      let address = path;
      const query: string[] = unknown === '' ? [] : [`${encode(unknown)}=${encode(unknown)}`];
      for (const [index, { name, place }] of inUrl.entries()) {
        if (place === 'path') address = address.replace(`{${name}}`, () => written[index] ?? '');
        else query.push(`${name}=${written[index]}`);
      }
      const headers = pairs.filter(({ place }) => place === 'header').map(({ name, value }) => [name, sendable(value)]);
      return {
        method: method.toUpperCase(),
        url: query.length === 0 ? address : `${address}?${query.join('&')}`,
        headers: { ...Object.fromEntries(headers), ...(type === undefined ? {} : { 'Content-Type': type }) },
        body: content,
      };
    });
  });
}
