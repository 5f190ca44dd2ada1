import { type Static, Type } from 'typebox';
import { HourlyVotesSchema, StandingsSchema } from '../leaderboards/schema.ts';
import { MAKER_FIELDS, type MakerField, PRODUCT_FIELDS, type ProductFields } from '../products/fields.ts';
import { ProductSchema } from '../products/schema.ts';
import { TEXT_FORMAT } from '../text.ts';
import { MAKER_KEY_PATTERN, SUBMISSION_LIMITS } from './limits.ts';

const Text = Type.String({ format: TEXT_FORMAT });

const KIND_SCHEMAS = {
  text: Type.Optional(Text),
  texts: Type.Optional(Type.Array(Text)),
  team: Type.Optional(Type.Array(Type.Object({ name: Text, role: Type.Optional(Text) }))),
};

type FieldSchemas = { [Name in MakerField]: (typeof KIND_SCHEMAS)[ProductFields[Name]['kind']] };

/** The maker's input. `core` checks required fields, lengths and item counts, and reports all errors together. */
const submissionFields = {
  ...(Object.fromEntries(MAKER_FIELDS.map((name) => [name, KIND_SCHEMAS[PRODUCT_FIELDS[name].kind]])) as FieldSchemas),
  launchAt: Type.Optional(
    Type.Union([Text, Type.Null()], {
      description: `The time of the launch: ISO 8601 with a UTC offset, at most ${SUBMISSION_LIMITS.launchAheadDays} days ahead; null if the product launches on approval.`,
    }),
  ),
};

export const NewSubmissionSchema = Type.Object(
  {
    ...submissionFields,
    name: Text,
    /** A honeypot: people do not see this field, so any value indicates a bot. */
    website: Type.Optional(Type.String()),
  },
  { $id: 'NewSubmission' },
);

/** The revision that the maker edited. If the submission has changed since, the response is 409. */
const revision = Type.Optional(Type.Integer({ minimum: 1 }));

/** The fields to change. Missing fields keep their values. */
export const SubmissionPatchSchema = Type.Object(
  {
    ...submissionFields,
    revision,
    /** The `productVersion` that the maker edited. If the product has changed since, the response is 409. */
    productVersion: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  },
  { $id: 'SubmissionPatch' },
);

export const ScreenshotParamsSchema = Type.Object({ id: Type.String(), n: Type.String() });

/** The version that the maker edited, as in `SubmissionPatch`, for requests without a body. */
export const SubmissionVersionQuerySchema = Type.Object({ revision, productVersion: Type.Optional(Type.String()) });

const SubmissionStatusSchema = Type.Union([
  Type.Literal('waiting'),
  Type.Literal('scheduled'),
  Type.Literal('launched'),
  Type.Literal('declined'),
  Type.Literal('withdrawn'),
]);

/** A submission as its maker sees it. */
const SubmissionSchema = Type.Object(
  {
    /** The id that the submission's product has or will have. */
    id: Type.String(),
    status: SubmissionStatusSchema,
    /** Why the submission was declined, or that its product was removed; otherwise `null`. */
    reason: Type.Union([Type.String(), Type.Null()]),
    /**
     * True while the submission is waiting, declined or scheduled. False if the product was removed, or was postponed
     * after it got votes or comments.
     */
    editable: Type.Boolean(),
    /** Increases with each change by the maker and each decision by an operator. */
    revision: Type.Integer({ minimum: 1 }),
    /**
     * Changes with each edit of the approved product, including edits by operators; `null` if there is no approved
     * product.
     */
    productVersion: Type.Union([Type.String(), Type.Null()]),
    /** The time of the launch; `null` if the product launches on approval, because no time is set or it has passed. */
    launchAt: Type.Union([Type.String(), Type.Null()]),
    /** The product as visitors see it or will see it. */
    product: ProductSchema,
    /** The standings of the launch on the leaderboards; `null` before the launch. */
    standing: Type.Union([StandingsSchema, Type.Null()]),
    /** The numbers of counted votes in each hour of the launch window so far, oldest first; empty before the launch. */
    votesByHour: Type.Array(HourlyVotesSchema),
    createdAt: Type.String(),
    updatedAt: Type.String(),
  },
  { $id: 'Submission' },
);

export const SubmissionResponseSchema = Type.Object({ submission: SubmissionSchema }, { $id: 'SubmissionResponse' });

/** The response to a new submission, the only one that contains the maker key. */
export const CreatedSubmissionSchema = Type.Object(
  { submission: SubmissionSchema, makerKey: Type.String({ pattern: MAKER_KEY_PATTERN }) },
  { $id: 'CreatedSubmission' },
);

export type NewSubmission = Static<typeof NewSubmissionSchema>;
export type SubmissionPatch = Static<typeof SubmissionPatchSchema>;
export type SubmissionStatus = Static<typeof SubmissionStatusSchema>;
export type Submission = Static<typeof SubmissionSchema>;
export type SubmissionResponse = Static<typeof SubmissionResponseSchema>;
export type CreatedSubmission = Static<typeof CreatedSubmissionSchema>;
