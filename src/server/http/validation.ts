import { Ajv } from 'ajv';
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify';
import { isStorableText, TEXT_FORMAT } from '../../contract/text.ts';
import { CoreError } from '../../core/core-error.ts';

/**
 * Checks requests against the contract's schemas. Only what comes as text in an address is coerced (`limit=10`); a body
 * must already have the types that it claims.
 */
export function validateByContract(app: FastifyInstance): void {
  const strict = newAjv(false);
  const coercing = newAjv(true);
  app.setValidatorCompiler(({ schema, httpPart }) => (httpPart === 'body' ? strict : coercing).compile(schema));
  app.setSchemaErrorFormatter((errors) => new CoreError('bad_request', describeFault(errors)));
}

/** Puts the first fault into a sentence that a person may read; the validator's own words are for programmers. */
function describeFault(errors: readonly FastifySchemaValidationError[]): string {
  const [first] = errors;
  const name = first?.instancePath.split('/')[1];
  if (first?.keyword === 'required') return `The parameter '${first.params.missingProperty}' is missing`;
  if (first === undefined || name === undefined) return 'The request does not have the form that it must have';
  const choices = errors.filter(({ keyword }) => keyword === 'const').map(({ params }) => params.allowedValue);
  if (choices.length > 0) return `The parameter '${name}' must be one of ${[...new Set(choices)].join(', ')}`;
  if (first.keyword === 'format') return `The parameter '${name}' has characters that cannot be searched for`;
  return `The parameter '${name}' ${first.message?.replace('NOT', 'not')}`;
}

function newAjv(coerceTypes: boolean): Ajv {
  const ajv = new Ajv({
    coerceTypes,
    useDefaults: false,
    removeAdditional: false,
    allErrors: false,
    // 'Infinity' is coerced to a number like any other; strictly it would then be none, and no bound would apply to it.
    strictNumbers: !coerceTypes,
  });
  ajv.addFormat(TEXT_FORMAT, { type: 'string', validate: isStorableText });
  return ajv;
}
