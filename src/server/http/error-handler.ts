import { Ajv, type ValidateFunction } from 'ajv';
import {
  errorCodes,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchemaCompiler,
  type FastifySchemaValidationError,
} from 'fastify';
import type { ProblemCode } from '../../contract/problem.ts';
import {
  INSTANT_FORMAT,
  isInstant,
  isStorableText,
  isVisible,
  TEXT_FORMAT,
  VISIBLE_FORMAT,
} from '../../contract/text.ts';
import { CoreError } from '../../core/core-error.ts';
import { problem, sendProblem } from './problems.ts';
import { requestIdsOf } from './request-keys.ts';

/** How long a client should wait if the database is unavailable or a queue is full. */
const RETRY_AFTER_S = 2;

/** How long a maker should wait while too many submissions await a decision. Operators may take hours. */
const RETRY_AFTER_DECISION_S = 3_600;

/** Errors that Fastify raises before a handler runs. */
const FRAMEWORK_CODES: Record<string, [ProblemCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['bad_request', 'The body is not valid JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['bad_request', 'The body is not as long as Content-Length says.'],
  FST_ERR_BAD_URL: ['bad_request', 'The URL is not valid.'],
};

/** Turns the errors of routes into responses. Unexpected errors are logged, and clients get only a general message. */
export function handleError(
  error: FastifyError | CoreError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const [code, detail] = explain(error, request);
  const body = problem(code, detail, error instanceof CoreError ? error.fields : undefined);
  if (code === 'internal') request.log.error({ err: error, ...requestIdsOf(request) }, 'Request failed');
  if (body.status === 503) {
    // The database module logs an outage once, and a refusal because of overload is not an error.
    request.log.debug(requestIdsOf(request), 'Request failed');
    reply.header('Retry-After', RETRY_AFTER_S);
  }
  if (code === 'too_many_waiting') reply.header('Retry-After', RETRY_AFTER_DECISION_S);
  const current = error instanceof CoreError ? error.current : undefined;
  return sendProblem(current === undefined ? body : { ...body, ...{ current } }, request, reply);
}

function explain(error: FastifyError | CoreError | Error, { routeOptions }: FastifyRequest): [ProblemCode, string] {
  if (error instanceof CoreError) return [error.code, error.message];
  if ('validation' in error && error.validation) return ['bad_request', error.message];
  const code = 'code' in error ? error.code : '';
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return ['body_too_large', `The body is larger than ${Number(routeOptions.bodyLimit) / 1024} KiB.`];
  }
  const known = FRAMEWORK_CODES[code];
  if (known) return known;
  const status = 'statusCode' in error ? error.statusCode : undefined;
  if (status !== undefined && status >= 400 && status < 500) return ['bad_request', error.message];
  return ['internal', 'Something went wrong on our side. Please try again.'];
}

const strict = newAjv(false);
const coercing = newAjv(true);

/**
 * Validates requests against the contract's schemas. Only parameters of the URL are coerced (`limit=10`); values in a
 * body must have the right types.
 */
export function validateByContract(app: FastifyInstance): void {
  app.setValidatorCompiler(({ schema, httpPart }) =>
    compileLazily(() => (httpPart === 'body' ? strict : coercing).compile(schema)),
  );
  app.setSchemaErrorFormatter((errors) => new CoreError('bad_request', describeErrors(errors)));
}

type Validate = ReturnType<FastifySchemaCompiler<unknown>>;

/** Compiles a schema when a request first needs it: compiling all of them would take a fifth of the startup time. */
function compileLazily(compile: () => ValidateFunction): Validate {
  let compiled: ValidateFunction | undefined;
  const validate: Validate = (data) => {
    compiled ??= compile();
    const isValid = compiled(data);
    validate.errors = (compiled.errors ?? null) as FastifySchemaValidationError[] | null;
    return isValid;
  };
  return validate;
}

/** Describes the first error in a sentence. The validator's own messages do not name the parameter. */
function describeErrors(errors: readonly FastifySchemaValidationError[]): string {
  const [first] = errors;
  const name = first?.instancePath.split('/')[1];
  if (first?.keyword === 'required') return `The parameter '${first.params.missingProperty}' is missing.`;
  if (first === undefined || name === undefined) return 'The request does not match the expected schema.';
  const choices = errors.filter(({ keyword }) => keyword === 'const').map(({ params }) => params.allowedValue);
  if (choices.length > 0) return `The parameter '${name}' must be one of ${[...new Set(choices)].join(', ')}.`;
  if (first.keyword === 'format') {
    return first.params.format === INSTANT_FORMAT
      ? `The parameter '${name}' must be a valid time in UTC, such as 2026-12-01T09:00:00Z.`
      : `The parameter '${name}' contains invalid characters.`;
  }
  return `The parameter '${name}' ${first.message?.replace('NOT', 'not')}.`;
}

function newAjv(coerceTypes: boolean): Ajv {
  const ajv = new Ajv({
    coerceTypes,
    useDefaults: false,
    removeAdditional: false,
    allErrors: false,
    // With strict numbers, Ajv would coerce 'Infinity' to a number and then not apply the limits, which it checks only
    // for finite numbers.
    strictNumbers: !coerceTypes,
  });
  ajv.addFormat(TEXT_FORMAT, { type: 'string', validate: isStorableText });
  ajv.addFormat(VISIBLE_FORMAT, { type: 'string', validate: (text) => isStorableText(text) && isVisible(text) });
  ajv.addFormat(INSTANT_FORMAT, { type: 'string', validate: isInstant });
  return ajv;
}

/**
 * Accepts JSON bodies only. Invalid UTF-8 is refused rather than repaired, because the stored text must be the text
 * that was sent. An empty body counts as no body, because many clients always send a media type.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    if (!isPlainUtf8(request)) {
      return done(
        new CoreError('unsupported_media_type', 'Send the body as application/json in UTF-8, not compressed.'),
      );
    }
    let text: string;
    try {
      text = utf8.decode(body as Buffer);
    } catch {
      return done(new CoreError('bad_request', 'The body is not valid UTF-8.'));
    }
    parseJson(request, text, done);
  });
  // Refuses bodies of other media types before they arrive.
  app.addContentTypeParser('*', ({ headers }, _body, done) => {
    const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
    done(isEmpty ? null : new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE());
  });
}

function isPlainUtf8({ headers }: FastifyRequest): boolean {
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  const charset = /;\s*charset="?([^\s;"]+)/i.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase() ?? 'utf-8';
  return coding === 'identity' && (charset === 'utf-8' || charset === 'utf8');
}
