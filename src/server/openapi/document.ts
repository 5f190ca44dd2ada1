import type { FastifyInstance, FastifySchema } from 'fastify';
import * as addresses from '../../contract/paths.ts';
import { ProblemSchema } from '../../contract/problem.ts';
import { PICTURE_UPLOADS } from '../../contract/products/picture-uploads.ts';
import { TEXT_FORMAT } from '../../contract/text.ts';
import { PROBLEM_MEDIA_TYPE, problem } from '../http/problems.ts';
import type { SiteIdentity } from '../http/site-identity.ts';
import {
  HEADERS,
  headerRef,
  type Operation,
  PARAMETERS,
  parameterRef,
  SECURITY_SCHEMES,
  TAGS,
  type Tag,
} from './parts.ts';

const JSON_MEDIA_TYPE = 'application/json';
const PROBLEM_TYPE = PROBLEM_MEDIA_TYPE.split(';', 1)[0] ?? '';

const PICTURE_CONTENT = Object.fromEntries(PICTURE_UPLOADS.mediaTypes.map((type) => [type, {}]));

type Named = Map<string, Json>;

/** A registered route of the API, with its description and the schemas that validate its requests. */
export interface ApiRoute {
  method: string;
  url: string;
  schema: FastifySchema;
  operation: Operation;
}

/**
 * Records the API's routes as they are registered, except the files of the reference page. Call this before the first
 * route.
 * @throws Error if a route has no description.
 */
export function recordApiRoutes(app: FastifyInstance): readonly ApiRoute[] {
  const routes: ApiRoute[] = [];
  app.addHook('onRoute', ({ method, url, schema = {}, config }) => {
    if (!url.startsWith(addresses.api.prefix) || url.startsWith(`${addresses.api.reference}/`)) return;
    if (config?.operation === undefined) throw new Error(`The config of ${method} ${url} has no operation`);
    const operation: Operation = { ...config.operation, ...(config.limit && { isRateLimited: true }) };
    // HEAD routes are omitted, because every GET route has one.
    for (const name of [method].flat()) if (name !== 'HEAD') routes.push({ method: name, url, schema, operation });
  });
  return routes;
}

/**
 * Describes the API as OpenAPI 3.1: the schemas come from the routes, the descriptions from their `operation`.
 */
export function openApiDocument(routes: readonly ApiRoute[], site: SiteIdentity, version: string): Json {
  const named: Named = new Map();
  const problemRef = documentSchema(ProblemSchema, named);
  const paths: Record<string, Json> = {};
  const tags = new Set(routes.map(({ operation }) => operation.tag));
  const hasMakers = tags.has('Submissions');
  for (const route of routes) {
    const { operation } = route;
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: describe(
        route,
        hasMakers ? operation : withoutMakers(operation),
        problemRef,
        named,
      ),
    };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: `${site.name} API`,
      version,
      description:
        'Read products, leaderboards and comments; upvote products, comment, and like comments. Errors are problem details (RFC 9457) with a stable `code`. Web pages of any origin may read, but only pages of this site may write.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: site.url() }],
    security: [],
    tags: Object.entries(TAGS)
      .filter(([name]) => tags.has(name as Tag))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries(named),
      parameters: PARAMETERS,
      headers: HEADERS,
      ...(hasMakers && { securitySchemes: SECURITY_SCHEMES }),
    },
  };
}

/** Adapts an operation to a site whose visitors cannot submit products. */
function withoutMakers(operation: Operation): Operation {
  const problems = operation.problems.filter((code) => code !== 'submission_not_found');
  return { ...operation, makerKey: undefined, problems };
}

function describe({ schema }: ApiRoute, operation: Operation, problemRef: Json, named: Named): Json {
  const { id, tag, summary, description, bodyExample, makerKey } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(makerKey === undefined ? {} : { security: [{ MakerKey: [] }, ...(makerKey === 'optional' ? [{}] : [])] }),
    ...(description === undefined ? {} : { description }),
    parameters: parametersOf(schema, operation, named),
    ...(schema.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { [JSON_MEDIA_TYPE]: { schema: documentSchema(schema.body, named), example: bodyExample } },
          },
        }),
    ...(operation.takesPicture ? { requestBody: { required: true, content: PICTURE_CONTENT } } : {}),
    responses: { ...responsesOf(schema, operation, named), ...problemsOf(operation, problemRef) },
  };
}

function parametersOf(schema: { params?: unknown; querystring?: unknown }, operation: Operation, named: Named): Json[] {
  const declared = (['path', 'query'] as const).flatMap((place) => {
    const part = place === 'path' ? schema.params : schema.querystring;
    const { properties = {}, required = [] } = part === undefined ? {} : documentSchema(part, named);
    return Object.entries(properties as Record<string, Json>).map(([name, content]) => {
      const text = operation.parameters?.[name];
      if (text === undefined) throw new Error(`The operation ${operation.id} does not describe its parameter ${name}`);
      return { name, in: place, required: (required as string[]).includes(name), ...text, schema: content };
    });
  });
  return [
    ...declared,
    ...(operation.needsSession ? [parameterRef('Session')] : []),
    ...(operation.takesIdempotencyKey ? [parameterRef('IdempotencyKey')] : []),
    ...(operation.takesLastEventId ? [parameterRef('LastEventId')] : []),
    ...(operation.isCacheable ? [parameterRef('IfNoneMatch')] : []),
  ];
}

function responsesOf(schema: { response?: unknown }, operation: Operation, named: Named): Json {
  const declared = (schema.response ?? {}) as Record<string, unknown>;
  const headers = {
    'Cache-Control': headerRef('CacheControl'),
    ...(operation.isCacheable ? { ETag: headerRef('ETag') } : {}),
    ...(operation.isRateLimited
      ? { RateLimit: headerRef('RateLimit'), 'RateLimit-Policy': headerRef('RateLimitPolicy') }
      : {}),
  };
  const responses: Json = {};
  for (const [status, { description, example, content }] of Object.entries(operation.responses)) {
    const type = content?.type ?? JSON_MEDIA_TYPE;
    const responseSchema =
      declared[status] === undefined ? undeclared(type, content?.data, named) : documentSchema(declared[status], named);
    const media = { schema: responseSchema, ...(example === undefined ? {} : { example }) };
    responses[status] = { description, headers, content: { [type]: media } };
  }
  if (operation.isCacheable) responses[304] = { description: 'The client has the current version', headers };
  return responses;
}

/** Returns the schema of a response whose route declares none. */
function undeclared(type: string, data: unknown, named: Named): Json {
  if (type === JSON_MEDIA_TYPE) return { type: 'object' };
  return { type: 'string', ...(data === undefined ? {} : { contentSchema: documentSchema(data, named) }) };
}

function problemsOf({ problems, isRateLimited }: Operation, schema: Json): Json {
  const statuses = new Set(problems.map((code) => problem(code, '').status));
  const responses: Json = {};
  for (const status of statuses) {
    const codes = problems.filter((code) => problem(code, '').status === status);
    const titles = codes.map((code) => problem(code, '').title);
    const examples = codes.map((code) => [code, { value: problem(code, problem(code, '').title) }]);
    const waits = status === 429 || status === 503 ? { 'Retry-After': headerRef('RetryAfter') } : {};
    const limits =
      status === 429 && isRateLimited
        ? { RateLimit: headerRef('RateLimit'), 'RateLimit-Policy': headerRef('RateLimitPolicy') }
        : {};
    responses[status] = {
      description: [...new Set(titles)].join('; '),
      headers: { 'Cache-Control': headerRef('CacheControl'), ...waits, ...limits },
      content: { [PROBLEM_TYPE]: { schema, examples: Object.fromEntries(examples) } },
    };
  }
  responses.default = { description: 'Any other problem', content: { [PROBLEM_TYPE]: { schema } } };
  return responses;
}

type Json = { [name: string]: unknown };

/**
 * Converts a validating schema for the document. A named schema (`$id`) becomes a reference and is added to `named`. A
 * union of literal strings becomes an `enum`, and a union of types without constraints becomes a list of types. The
 * format `storable-text`, which is specific to this site, is omitted.
 */
function documentSchema(schema: unknown, named: Named): Json {
  // TypeBox stores its own properties as non-enumerable ones, which JSON omits.
  return convert(JSON.parse(JSON.stringify(schema)), named);
}

function convert(schema: Json, named: Named): Json {
  const { $id: id, ...rest } = schema;
  if (typeof id !== 'string') return convertContent(rest, named);
  if (!named.has(id)) {
    named.set(id, {});
    named.set(id, convertContent(rest, named));
  }
  return { $ref: `#/components/schemas/${id}` };
}

function convertContent({ format, properties, items, anyOf, ...rest }: Json, named: Named): Json {
  return {
    ...rest,
    ...(format === undefined || format === TEXT_FORMAT ? {} : { format }),
    ...(isRecord(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [name, convert(property as Json, named)]),
          ),
        }
      : {}),
    ...(isRecord(items) ? { items: convert(items, named) } : {}),
    ...(Array.isArray(anyOf) ? choiceOf(anyOf as Json[], named) : {}),
  };
}

function choiceOf(choices: readonly Json[], named: Named): Json {
  if (choices.every(({ const: value }) => typeof value === 'string')) {
    return { type: 'string', enum: choices.map(({ const: value }) => value) };
  }
  const isBareType = (choice: Json) => Object.keys(choice).length === 1 && 'type' in choice;
  if (choices.every(isBareType)) return { type: choices.map(({ type }) => type) };
  return { anyOf: choices.map((choice) => convert(choice, named)) };
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
