import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { Type } from 'typebox';
import type { ProblemCode } from '../../contract/problem.ts';
import { fieldOf, MAKER_FIELDS } from '../../contract/products/fields.ts';
import { submissionPaths as paths } from '../../contract/submissions/paths.ts';
import {
  CreatedSubmissionSchema,
  NewSubmissionSchema,
  ScreenshotParamsSchema,
  type Submission,
  SubmissionPatchSchema,
  SubmissionResponseSchema,
  SubmissionVersionQuerySchema,
} from '../../contract/submissions/schema.ts';
import { formatCount } from '../../contract/text.ts';
import { CoreError } from '../../core/core-error.ts';
import type { PicturePipeline } from '../../core/pictures/picture-store.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { MakerAccess } from '../../core/submissions/change-submission.ts';
import { invalidSubmission } from '../../core/submissions/submission-fields.ts';
import type { Submissions } from '../../core/submissions/submissions.ts';
import { NO_STORE } from '../http/cache-control.ts';
import { setLastWriteCookie } from '../http/last-write-cookie.ts';
import { idempotencyKeyOf, makerKeyOf, sessionOf } from '../http/request-keys.ts';
import type { ChargeRequest } from '../limits/limit-requests.ts';
import { addressPrefix } from '../limits/network-keys.ts';
import type { RepeatedTexts } from '../limits/repeated-texts.ts';
import { type Operation, SCREENSHOT_PARAMETERS, SUBMISSION_EXAMPLE } from '../openapi/parts.ts';
import { receivePictures } from '../pictures/receive-pictures.ts';

interface Options {
  submissions: Submissions;
  pictures: PicturePipeline;
  runtime: Runtime;
  charge: ChargeRequest;
  /** Whether the number of waiting submissions per network is limited. */
  isLimited: boolean;
  /** If unset, repeated texts are not detected. */
  repeatedTexts: RepeatedTexts | undefined;
}

/** All fields together have at most about 42,000 characters, of up to four bytes each. */
export const MAX_SUBMISSION_BODY_BYTES = 256 * 1024;

/** The routes with which makers create, read and change submissions. */
export const submissionRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { submissions, pictures, runtime, charge, isLimited, repeatedTexts },
) => {
  const network = ({ ip }: FastifyRequest) => (isLimited ? addressPrefix(ip) : undefined);
  const accessOf = (request: FastifyRequest): MakerAccess => ({
    id: (request.params as { id: string }).id,
    makerKey: makerKeyOf(request),
    network: network(request),
  });
  /** Runs before the body is received, so requests without the maker key occupy little memory. */
  const requireEditable = (request: FastifyRequest) => submissions.requireEditable(accessOf(request));

  app.addHook('onRequest', async (_request, reply) => {
    reply.header('Cache-Control', NO_STORE);
  });

  const limit = { action: 'maker' } as const;
  app.post(
    paths.submissions,
    {
      bodyLimit: MAX_SUBMISSION_BODY_BYTES,
      config: { operation: OPERATIONS.createSubmission, limit },
      schema: { body: NewSubmissionSchema, response: { 200: CreatedSubmissionSchema, 201: CreatedSubmissionSchema } },
      schemaErrorFormatter: invalidBody,
    },
    async (request, reply) => {
      const session = sessionOf(request);
      const submitter = { session, idempotencyKey: idempotencyKeyOf(request), network: network(request) };
      // Only valid new submissions count against the limit, so failed attempts do not prevent others in the network
      // from submitting.
      let refund: (() => void) | undefined;
      const chargeOnce = () => {
        refund ??= charge('submission', request, reply);
      };
      const { name, description = '' } = request.body;
      const repetition = repeatedTexts?.(`${name} ${description}`, { session, address: request.ip });
      const creation = submissions.create(request.body, { ...submitter, charge: chargeOnce }, repetition);
      creation.catch(() => refund?.());
      const { submission, makerKey, created } = await creation;
      reply.code(created ? 201 : 200).header('Location', paths.submission(submission.id));
      return { submission, makerKey };
    },
  );

  const schema = { params: Type.Object({ id: Type.String() }), response: { 200: SubmissionResponseSchema } };
  async function respond(reply: FastifyReply, change: Promise<Submission>) {
    const submission = await change;
    setLastWriteCookie(reply, runtime);
    return { submission };
  }

  app.get(
    paths.submission.route,
    { config: { operation: OPERATIONS.getSubmission, limit }, schema },
    async (request) => ({ submission: await submissions.get(accessOf(request)) }),
  );

  app.patch(
    paths.submission.route,
    {
      onRequest: requireEditable,
      bodyLimit: MAX_SUBMISSION_BODY_BYTES,
      config: { operation: OPERATIONS.editSubmission, limit },
      schema: { ...schema, body: SubmissionPatchSchema },
      schemaErrorFormatter: invalidBody,
    },
    (request, reply) => respond(reply, submissions.edit(accessOf(request), request.body)),
  );

  await app.register(async (scope) => {
    const requireCapacity = (request: FastifyRequest) => submissions.requireScreenshotCapacity(accessOf(request));
    const receive = receivePictures(scope, pictures);
    const limit = { action: 'picture' } as const;
    scope.put(
      paths.image.route,
      { onRequest: requireEditable, config: { operation: OPERATIONS.setSubmissionImage, limit }, schema },
      async (request, reply) => {
        const address = await receive(request, 'image');
        return respond(reply, submissions.setImage(accessOf(request), address));
      },
    );
    scope.post(
      paths.screenshots.route,
      { onRequest: requireCapacity, config: { operation: OPERATIONS.addSubmissionScreenshot, limit }, schema },
      async (request, reply) => {
        const address = await receive(request, 'screenshot');
        return respond(reply, submissions.addScreenshot(accessOf(request), address));
      },
    );
  });

  app.delete(
    paths.screenshot.route,
    {
      config: { operation: OPERATIONS.removeSubmissionScreenshot, limit },
      schema: { ...schema, params: ScreenshotParamsSchema, querystring: SubmissionVersionQuerySchema },
    },
    (request, reply) => {
      const index = /^\d{1,3}$/.test(request.params.n) ? Number(request.params.n) : -1;
      return respond(reply, submissions.removeScreenshot(accessOf(request), index, request.query));
    },
  );

  app.delete(
    paths.submission.route,
    { config: { operation: OPERATIONS.withdrawSubmission, limit }, schema },
    (request, reply) => respond(reply, submissions.withdraw(accessOf(request))),
  );
};

/** Converts the first error of the schema validation into an error of its field, or of the whole body. */
function invalidBody([first]: readonly FastifySchemaValidationError[]): CoreError {
  const field = first?.instancePath.split('/')[1] ?? first?.params.missingProperty;
  if (first === undefined || typeof field !== 'string') {
    return new CoreError('bad_request', 'The body must be a JSON object.');
  }
  const detail = FIELD_ERRORS[first.keyword] ?? `This value ${first.message ?? 'is invalid'}.`;
  return invalidSubmission([{ field, detail }]);
}

const FIELD_ERRORS: Record<string, string> = {
  required: 'A required value is missing.',
  type: 'This value has the wrong type.',
  format: 'This value contains characters that cannot be stored.',
};

const SUBMISSION_ID = { description: 'The id of a submission and of its product', example: 'tide-tables' };

const KEY_PROBLEMS: readonly ProblemCode[] = ['bad_request', 'submission_not_found', 'rate_limited', 'unavailable'];

const CHANGE_PROBLEMS: readonly ProblemCode[] = [
  ...KEY_PROBLEMS,
  'submission_withdrawn',
  'already_launched',
  'too_many_waiting',
  'submission_changed',
];

const PICTURE_PROBLEMS: readonly ProblemCode[] = [
  ...CHANGE_PROBLEMS,
  'body_too_large',
  'unsupported_media_type',
  'picture_unusable',
  'overloaded',
];

const PICTURES =
  'Send the bytes of a PNG, JPEG, WebP, AVIF or GIF of at most 5 MiB and 40 megapixels, with its media type as `Content-Type`. The picture is scaled and stored as WebP without metadata. A scheduled submission then requires a new approval; a declined one must be edited first.';

const responsesOf = (description: string) => ({ 200: { description, example: { submission: SUBMISSION_EXAMPLE } } });

/** The limits of the fields. `core` checks them instead of the schemas, because it reports all errors together. */
const FIELD_LIMITS = `Maximum lengths in characters: ${MAKER_FIELDS.map((name) => {
  const { maxItems, maxCharacters } = fieldOf(name);
  const length = formatCount(maxCharacters);
  return `\`${name}\` ${maxItems === undefined ? length : `${maxItems} items of ${length}`}`;
}).join(', ')}.`;

/** The OpenAPI metadata of these routes. */
const OPERATIONS = {
  createSubmission: {
    id: 'createSubmission',
    tag: 'Submissions',
    summary: 'Submit a product for review',
    description: `${FIELD_LIMITS} An invalid submission gets 422 with the errors of its fields in \`errors\`. Only this response contains the \`makerKey\`. A value in the hidden field \`website\` marks the submission as sent by a bot. If the \`Idempotency-Key\` was used before, the response contains the first submission and another maker key.`,
    needsSession: true,
    takesIdempotencyKey: true,
    // The example has no launch time, because any date would eventually be in the past.
    bodyExample: { name: 'Tide tables', description: 'When to launch a boat.' },
    responses: {
      200: { description: 'The submission that this idempotency key created earlier' },
      201: { description: 'The new submission and its maker key' },
    },
    problems: [
      'bad_request',
      'session_required',
      'idempotency_key_invalid',
      'idempotency_key_reused',
      'body_too_large',
      'unsupported_media_type',
      'submission_invalid',
      'too_many_waiting',
      'rate_limited',
      'unavailable',
      'overloaded',
    ],
  },
  getSubmission: {
    id: 'getSubmission',
    tag: 'Submissions',
    summary: 'Get a submission as its maker',
    description:
      'After the launch, the response includes the standing and the counted votes of each hour of the launch window.',
    makerKey: 'required',
    parameters: { id: SUBMISSION_ID },
    responses: responsesOf('The submission'),
    problems: KEY_PROBLEMS,
  },
  editSubmission: {
    id: 'editSubmission',
    tag: 'Submissions',
    summary: 'Edit or reschedule a submission',
    description:
      'A submission can be edited until it launches. An edit of a declined submission submits it again. If a scheduled submission is changed in any field other than the launch time, it requires a new approval. With `revision` and `productVersion`, the edit fails if either has changed since.',
    makerKey: 'required',
    parameters: { id: SUBMISSION_ID },
    bodyExample: { description: 'When to launch a boat, and when not.' },
    responses: responsesOf('The updated submission'),
    problems: [...CHANGE_PROBLEMS, 'submission_invalid', 'body_too_large', 'unsupported_media_type'],
  },
  withdrawSubmission: {
    id: 'withdrawSubmission',
    tag: 'Submissions',
    summary: 'Withdraw a submission',
    description: 'A submission can be withdrawn until it launches. This cannot be undone; repeating it has no effect.',
    makerKey: 'required',
    parameters: { id: SUBMISSION_ID },
    responses: responsesOf('The withdrawn submission'),
    problems: [...KEY_PROBLEMS, 'already_launched'],
  },
  setSubmissionImage: {
    id: 'setSubmissionImage',
    tag: 'Submissions',
    summary: 'Set the picture of a product',
    description: PICTURES,
    makerKey: 'required',
    parameters: { id: SUBMISSION_ID },
    takesPicture: true,
    responses: responsesOf('The updated submission'),
    problems: PICTURE_PROBLEMS,
  },
  addSubmissionScreenshot: {
    id: 'addSubmissionScreenshot',
    tag: 'Submissions',
    summary: 'Add a screenshot',
    description: PICTURES,
    makerKey: 'required',
    parameters: { id: SUBMISSION_ID },
    takesPicture: true,
    responses: responsesOf('The updated submission; a new screenshot is the last one'),
    problems: [...PICTURE_PROBLEMS, 'submission_invalid'],
  },
  removeSubmissionScreenshot: {
    id: 'removeSubmissionScreenshot',
    tag: 'Submissions',
    summary: 'Remove a screenshot',
    description: 'A scheduled submission then requires a new approval; a declined one must be edited first.',
    makerKey: 'required',
    parameters: { id: SUBMISSION_ID, ...SCREENSHOT_PARAMETERS },
    responses: responsesOf('The updated submission'),
    problems: [...CHANGE_PROBLEMS, 'screenshot_not_found'],
  },
} satisfies Record<string, Operation>;
