import { ProblemSchema } from '../../contract/problem.ts';
import type { SiteIdentity } from '../feeds/site-identity.ts';
import { PROBLEM_MEDIA_TYPE, problem } from '../http/problems.ts';
import type { ApiRoute } from './api-routes.ts';
import { documentSchema, type Json } from './json-schema.ts';
import { type Operation, TAGS } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { HEADERS, headerRef, PARAMETERS, parameterRef } from './parts.ts';

const JSON_MEDIA_TYPE = 'application/json';
const PROBLEM_TYPE = PROBLEM_MEDIA_TYPE.split(';', 1)[0] ?? '';

type Named = Map<string, Json>;

/**
 * Describes the API as OpenAPI 3.1: from each route the schemas that validate it, from `OPERATIONS` the words about it.
 * @throws Error where a route has no words.
 */
export function openApiDocument(routes: readonly ApiRoute[], site: SiteIdentity, version: string): Json {
  const named: Named = new Map();
  const problemRef = documentSchema(ProblemSchema, named);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const operation = OPERATIONS[`${route.method} ${route.url}`];
    if (operation === undefined) throw new Error(`operations.ts says nothing about ${route.method} ${route.url}`);
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describe(route, operation, problemRef, named) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: `${site.name} API`,
      version,
      description:
        'Read products and comments, upvote, comment and like. Errors are problem details (RFC 9457) with a stable `code`. Pages of any origin may read; only pages of this site write.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: site.url() }],
    security: [],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: Object.fromEntries(named), parameters: PARAMETERS, headers: HEADERS },
  };
}

function describe({ schema }: ApiRoute, operation: Operation, problemRef: Json, named: Named): Json {
  const { id, tag, summary, description, bodyExample } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
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
    responses: { ...answersOf(schema, operation, named), ...problemsOf(operation, problemRef) },
  };
}

function parametersOf(schema: { params?: unknown; querystring?: unknown }, operation: Operation, named: Named): Json[] {
  const declared = (['path', 'query'] as const).flatMap((place) => {
    const part = place === 'path' ? schema.params : schema.querystring;
    const { properties = {}, required = [] } = part === undefined ? {} : documentSchema(part, named);
    return Object.entries(properties as Record<string, Json>).map(([name, content]) => {
      const words = operation.parameters?.[name];
      if (words === undefined) throw new Error(`operations.ts says nothing about ${name} of ${operation.id}`);
      return { name, in: place, required: (required as string[]).includes(name), ...words, schema: content };
    });
  });
  return [
    ...declared,
    ...(operation.needsSession ? [parameterRef('Session')] : []),
    ...(operation.takesIdempotencyKey ? [parameterRef('IdempotencyKey')] : []),
    ...(operation.takesLastEventId ? [parameterRef('LastEventId')] : []),
    ...(operation.isKept ? [parameterRef('IfNoneMatch')] : []),
  ];
}

function answersOf(schema: { response?: unknown }, operation: Operation, named: Named): Json {
  const declared = (schema.response ?? {}) as Record<string, unknown>;
  const headers = {
    'Cache-Control': headerRef('CacheControl'),
    ...(operation.isKept ? { ETag: headerRef('ETag') } : {}),
    ...(operation.isLimited
      ? { RateLimit: headerRef('RateLimit'), 'RateLimit-Policy': headerRef('RateLimitPolicy') }
      : {}),
  };
  const answers: Json = {};
  for (const [status, { description, example, content }] of Object.entries(operation.answers)) {
    const type = content?.type ?? JSON_MEDIA_TYPE;
    const schemaOfAnswer =
      declared[status] === undefined ? undeclared(type, content?.data, named) : documentSchema(declared[status], named);
    const media = { schema: schemaOfAnswer, ...(example === undefined ? {} : { example }) };
    answers[status] = { description, headers, content: { [type]: media } };
  }
  if (operation.isKept) answers[304] = { description: 'The client has the present version', headers };
  return answers;
}

/** The schema of an answer that its route does not declare. */
function undeclared(type: string, data: unknown, named: Named): Json {
  if (type === JSON_MEDIA_TYPE) return { type: 'object' };
  return { type: 'string', ...(data === undefined ? {} : { contentSchema: documentSchema(data, named) }) };
}

function problemsOf({ problems, isLimited }: Operation, schema: Json): Json {
  const statuses = new Set(problems.map((code) => problem(code, '').status));
  const answers: Json = {};
  for (const status of statuses) {
    const codes = problems.filter((code) => problem(code, '').status === status);
    const titles = codes.map((code) => problem(code, '').title);
    const examples = codes.map((code) => [code, { value: problem(code, problem(code, '').title) }]);
    const waits = status === 429 || status === 503 ? { 'Retry-After': headerRef('RetryAfter') } : {};
    const limits =
      status === 429 && isLimited
        ? { RateLimit: headerRef('RateLimit'), 'RateLimit-Policy': headerRef('RateLimitPolicy') }
        : {};
    answers[status] = {
      description: [...new Set(titles)].join('; '),
      headers: { 'Cache-Control': headerRef('CacheControl'), ...waits, ...limits },
      content: { [PROBLEM_TYPE]: { schema, examples: Object.fromEntries(examples) } },
    };
  }
  answers.default = { description: 'Any other problem', content: { [PROBLEM_TYPE]: { schema } } };
  return answers;
}
