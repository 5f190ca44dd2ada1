import { Ajv } from 'ajv';
import type { FastifyInstance } from 'fastify';
import { isStorableText, TEXT_FORMAT } from '../../contract/text.ts';

/**
 * Checks requests against the contract's schemas. Only what comes as text in an address is coerced (`limit=10`); a body
 * must already have the types that it claims.
 */
export function validateByContract(app: FastifyInstance): void {
  const strict = newAjv(false);
  const coercing = newAjv(true);
  app.setValidatorCompiler(({ schema, httpPart }) => (httpPart === 'body' ? strict : coercing).compile(schema));
}

function newAjv(coerceTypes: boolean): Ajv {
  const ajv = new Ajv({ coerceTypes, useDefaults: false, removeAdditional: false, allErrors: false });
  ajv.addFormat(TEXT_FORMAT, { type: 'string', validate: isStorableText });
  return ajv;
}
