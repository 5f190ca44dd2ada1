import { TEXT_FORMAT } from '../../contract/text.ts';

export type Json = { [name: string]: unknown };

/**
 * A validating schema as a document shows it: a named one (`$id`) becomes a reference and is put into `named`, choices become
 * an `enum` or a list of types, and what only our validator knows is left out.
 */
export function documentSchema(schema: unknown, named: Map<string, Json>): Json {
  // TypeBox keeps what is its own where JSON does not see it.
  return convert(JSON.parse(JSON.stringify(schema)), named);
}

function convert(schema: Json, named: Map<string, Json>): Json {
  const { $id: id, ...rest } = schema;
  if (typeof id !== 'string') return convertContent(rest, named);
  if (!named.has(id)) {
    named.set(id, {});
    named.set(id, convertContent(rest, named));
  }
  return { $ref: `#/components/schemas/${id}` };
}

function convertContent({ format, properties, items, anyOf, ...rest }: Json, named: Map<string, Json>): Json {
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

function choiceOf(choices: readonly Json[], named: Map<string, Json>): Json {
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
