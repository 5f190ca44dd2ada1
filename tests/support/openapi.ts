import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

export interface JsonSchema {
  $ref?: string;
  description?: string;
  type?: string;
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  pattern?: string;
  properties?: Record<string, JsonSchema>;
  contentSchema?: JsonSchema;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: JsonSchema;
  example?: unknown;
}

interface DescribedResponse {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: JsonSchema; examples?: Record<string, unknown> }>;
}

export interface DescribedOperation {
  operationId: string;
  description?: string;
  security?: readonly object[];
  parameters: readonly (Parameter | { $ref: string })[];
  requestBody?: { content: Record<string, { schema: JsonSchema; example: Record<string, unknown> }> };
  responses: Record<string, DescribedResponse>;
}

/** The parts of an OpenAPI document that the tests use. */
export interface OpenApi {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, JsonSchema>; parameters: Record<string, Parameter> };
}

/** Returns the target of a `$ref`. */
export function resolve<Part extends object>(openApi: OpenApi, part: Part | { $ref: string }): Part {
  if (!('$ref' in part) || typeof part.$ref !== 'string') return part as Part;
  const names = part.$ref.split('/').slice(1);
  const found = names.reduce<unknown>((within, name) => (within as Record<string, unknown>)[name], openApi);
  return found as Part;
}

export interface TestResponse {
  statusCode: number;
  headers: Readonly<Record<string, unknown>>;
  body: string;
}

/**
 * Creates a check that a response matches its description in the document: status, headers except those of rate limits,
 * media type and content.
 */
export function createDescriptionCheck(openApi: OpenApi) {
  const ajv = new Ajv2020({ strict: false });
  const compiled = new Map<JsonSchema, ValidateFunction>();

  function validatorOf(schema: JsonSchema): ValidateFunction {
    const validate =
      compiled.get(schema) ?? ajv.compile(closed({ ...schema, components: { schemas: openApi.components.schemas } }));
    compiled.set(schema, validate);
    return validate;
  }

  /** Checks a response. With `anyProblem`, also accepts the document's `default` response. */
  return function expectDescribed(
    response: TestResponse,
    path: string,
    method: string,
    { anyProblem = false } = {},
  ): DescribedResponse {
    const responses = openApi.paths[path]?.[method]?.responses ?? {};
    const described = responses[response.statusCode] ?? (anyProblem ? responses.default : undefined);
    expect(described, `${method} ${path} ${response.statusCode} ${response.body}`).toBeDefined();
    for (const header of Object.keys(described?.headers ?? {})) {
      if (!/^RateLimit/.test(header)) expect(response.headers, header).toHaveProperty(header.toLowerCase());
    }
    if (response.statusCode === 304) {
      expect(response.body).toBe('');
      return described as DescribedResponse;
    }
    const type = String(response.headers['content-type']).split(';', 1)[0] ?? '';
    const schema = described?.content?.[type]?.schema;
    expect(schema, `${method} ${path} ${response.statusCode} ${type}`).toBeDefined();
    if (type.endsWith('json')) {
      // The response must not have properties that the document does not name.
      const validate = validatorOf(schema as JsonSchema);
      expect(validate(JSON.parse(response.body)), `${ajv.errorsText(validate.errors)}: ${response.body}`).toBe(true);
    }
    return described as DescribedResponse;
  };
}

/** Returns a schema that allows only the properties that it names. */
function closed(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_key, value) =>
    value?.type === 'object' && value.properties !== undefined ? { ...value, additionalProperties: false } : value,
  );
}
