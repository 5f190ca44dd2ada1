import { SESSION_HEADER } from '../../../contract/api.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { TIME_PASSED } from '../../../contract/submissions/limits.ts';
import { submissionPaths } from '../../../contract/submissions/paths.ts';
import type {
  CreatedSubmission,
  NewSubmission,
  Submission,
  SubmissionPatch,
  SubmissionResponse,
} from '../../../contract/submissions/schema.ts';
import { ApiError, reasonOf } from '../../api/http-api.ts';
import { intlLocale, plural, t } from '../../language/translate.ts';
import { sessionId } from '../../storage/session.ts';
import { draftOf, savedDraft, toSubmission } from './draft.ts';

/** The same timeout as in `http-api.ts`. */
const TIMEOUT_MS = 40_000;

/** Uploading a picture may take minutes on a slow network. */
const UPLOAD_TIMEOUT_MS = 10 * 60_000;

/** An error from the submissions API. */
export class SubmissionError extends ApiError {
  /** The errors in the fields that were sent. */
  readonly errors: readonly FieldError[];
  /** The number of seconds after which a retry may succeed. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    problem: { code?: unknown; title?: unknown; detail?: unknown; errors?: unknown },
    retryAfter?: number,
  ) {
    const { code, title, detail, errors } = problem;
    super(
      status,
      typeof code === 'string' ? code : 'unknown',
      typeof detail === 'string' ? detail : t('The server responded with {status}', { status }),
    );
    if (typeof title === 'string') this.title = title;
    this.errors = Array.isArray(errors) ? errors.filter(isFieldError).map(inPageLanguage) : [];
    this.retryAfter = retryAfter;
  }
}

/** The id of a submission and the key that allows its maker to change it. */
export interface MakerAccess {
  id: string;
  key: string;
}

interface Upload {
  file: Blob;
  /** Called with the uploaded share, from 0 to 1. */
  onProgress: (share: number) => void;
}

export const submissionsClient = {
  async create(submission: NewSubmission, idempotencyKey: string): Promise<CreatedSubmission> {
    const headers = { [SESSION_HEADER]: sessionId(), 'Idempotency-Key': idempotencyKey };
    const created = await send<CreatedSubmission>('POST', submissionPaths.submissions, { json: submission, headers });
    if (created.submission.status !== 'withdrawn') return created;
    // The maker has submitted the same draft in another tab and then withdrawn it. The derived key lets a retry of this
    // request find the submission that it creates.
    return submissionsClient.create(submission, `${idempotencyKey}-again`);
  },
  get: (access: MakerAccess) => sendAsMaker('GET', submissionPaths.submission(access.id), access),
  /**
   * Changes fields of the submission. If its version is no longer `base`, calls `onChanged` with the latest version. If
   * the latest version already has these fields, for example because the response to an earlier attempt was lost,
   * returns it. Otherwise, throws `submission_changed`.
   */
  async update(
    access: MakerAccess,
    base: Submission,
    fields: SubmissionPatch,
    onChanged: (latest: Submission) => void,
  ): Promise<Submission> {
    const { revision, productVersion } = base;
    const json = { ...fields, revision, productVersion };
    try {
      return await sendAsMaker('PATCH', submissionPaths.submission(access.id), access, { json });
    } catch (error) {
      if (!(error instanceof SubmissionError && error.code === 'submission_changed')) throw error;
      const latest = await submissionsClient.get(access);
      onChanged(latest);
      // If the submission is declined now, either the earlier attempt failed or its changes were declined. In both
      // cases, the maker must save again.
      if (latest.status !== 'declined' && isStored(fields, latest)) return latest;
      throw error;
    }
  },
  withdraw: (access: MakerAccess) => sendAsMaker('DELETE', submissionPaths.submission(access.id), access),
  putImage: (access: MakerAccess, upload: Upload) =>
    sendAsMaker('PUT', submissionPaths.image(access.id), access, { upload }),
  addScreenshot: (access: MakerAccess, upload: Upload) =>
    sendAsMaker('POST', submissionPaths.screenshots(access.id), access, { upload }),
  /** Removes the screenshot at this index. Fails if the submission has changed since the given version. */
  removeScreenshot(access: MakerAccess, index: number, { revision, productVersion }: Submission): Promise<Submission> {
    const base = new URLSearchParams({ revision: `${revision}`, ...(productVersion && { productVersion }) });
    return sendAsMaker('DELETE', `${submissionPaths.screenshot(access.id, index)}?${base}`, access);
  },
};

/** Returns whether the latest submission already has these fields. */
export function isStored(fields: SubmissionPatch, latest: Submission): boolean {
  const stored = toSubmission(draftOf(latest));
  return JSON.stringify({ ...stored, ...fields }) === JSON.stringify(stored);
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface Content {
  json?: object;
  upload?: Upload;
  headers?: Record<string, string>;
}

async function sendAsMaker(
  method: Method,
  path: string,
  { key }: MakerAccess,
  content: Content = {},
): Promise<Submission> {
  // Only this function and `addComment` of the API client send maker keys.
  const headers = { Authorization: `Bearer ${key}`, [SESSION_HEADER]: sessionId() };
  const { submission } = await send<SubmissionResponse>(method, path, { ...content, headers });
  return submission;
}

/**
 * Sends a request with `XMLHttpRequest`, because `fetch` does not report the progress of an upload.
 * @throws SubmissionError if the request fails. Its `status` is 0 if no usable response arrived.
 */
function send<Body>(method: Method, path: string, { json, upload, headers = {} }: Content): Promise<Body> {
  const request = new XMLHttpRequest();
  request.open(method, path);
  request.responseType = 'text';
  request.timeout = upload ? UPLOAD_TIMEOUT_MS : TIMEOUT_MS;
  for (const [name, value] of Object.entries({ Accept: 'application/json', ...headers })) {
    request.setRequestHeader(name, value);
  }
  if (json) request.setRequestHeader('Content-Type', 'application/json');
  if (upload) request.setRequestHeader('Content-Type', upload.file.type || 'application/octet-stream');
  return new Promise((resolve, reject) => {
    const fail = (code: string) => () =>
      reject(new SubmissionError(0, { code, detail: 'The server could not be reached' }));
    const failNetwork = fail('network');
    request.onerror = failNetwork;
    request.ontimeout = fail('timeout');
    request.onload = () => {
      const { status } = request;
      const body = parse(request.responseText);
      const isSuccess = status >= 200 && status < 300;
      if (isSuccess && body !== null) resolve(body as Body);
      // A proxy cut off or replaced the response, or the request did not arrive in time. The server has not rejected
      // the request.
      else if (isSuccess || status === 408) failNetwork();
      else reject(new SubmissionError(status, body ?? {}, retryAfterOf(request)));
    };
    if (upload) {
      request.upload.onprogress = ({ loaded, total }) => upload.onProgress(total === 0 ? 0 : loaded / total);
    }
    request.send(json ? JSON.stringify(json) : upload?.file);
  });
}

/** Parses a response. Returns null for anything but a JSON object, for example for the HTML error page of a proxy. */
function parse(text: string): object | null {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' ? body : null;
  } catch {
    return null;
  }
}

function retryAfterOf(request: XMLHttpRequest): number | undefined {
  const seconds = Number(request.getResponseHeader('Retry-After') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : undefined;
}

/**
 * Returns the error in the page's language. The API explains errors only in English, but the form itself has already
 * checked for the common errors.
 */
function inPageLanguage({ field, detail }: FieldError): FieldError {
  if (detail === TIME_PASSED) return { field, detail: t('Choose a launch time in the future.') };
  return { field, detail: intlLocale() ? t('This value is not accepted.') : detail };
}

function isFieldError(value: unknown): value is FieldError {
  const { field, detail } = (value ?? {}) as Partial<Record<keyof FieldError, unknown>>;
  return typeof field === 'string' && typeof detail === 'string';
}

/** Why a request failed, and what the maker can do now. */
export interface Failure {
  title: string;
  detail: string;
  /** The operator's reason for declining the submission. */
  reason?: string | null;
}

interface FailureContext {
  /** Whether the draft is stored in this browser. */
  isSaved?: boolean;
  /** The latest known version of the submission. */
  latest?: Submission | undefined;
}

/** Describes a failure for the maker. */
export function failureOf(error: unknown, { isSaved = false, latest }: FailureContext = {}): Failure {
  const saved = isSaved && savedDraft.isPersisted() ? ` ${t('Your text is saved in this browser.')}` : '';
  const unknown = { title: t('Something went wrong'), detail: t('Please try again.') + saved };
  if (!(error instanceof SubmissionError)) return unknown;
  const { status, code, retryAfter } = error;
  const message = sentence(reasonOf(error));
  if (status === 0) {
    return navigator.onLine
      ? { title: t('The site cannot be reached'), detail: t('Try again in a moment.') + saved }
      : { title: t('You are offline'), detail: t('Try again when the network is back.') + saved };
  }
  const later =
    retryAfter === undefined ? t('Try again later.') : t('Try again in {time}.', { time: duration(retryAfter) });
  if (status === 429) return { title: t('Too many at once'), detail: `${message} ${later}${saved}` };
  if (status === 503) return { title: t('The site is busy'), detail: `${later}${saved}` };
  if (status >= 500) return unknown;
  if (code === 'submission_changed') {
    const detail = t('Your changes were not saved. Check them against the latest version, then try again.');
    return latest?.status === 'declined'
      ? { title: t('Declined'), detail, reason: latest.reason }
      : { title: t('The submission has changed'), detail };
  }
  if (status === 409) return { title: t('This is no longer possible'), detail: message };
  if (code === 'submission_not_found')
    return {
      title: t('This maker link no longer works'),
      detail: t('The operator may have replaced it, or the submission was withdrawn or declined and has been deleted.'),
    };
  return { title: t('This was rejected'), detail: message };
}

function duration(seconds: number): string {
  if (seconds < 90) return plural('{count} second', '{count} seconds', Math.max(1, Math.ceil(seconds)));
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90
    ? plural('{count} minute', '{count} minutes', minutes)
    : plural('{count} hour', '{count} hours', Math.ceil(minutes / 60));
}

function sentence(text: string): string {
  return /[.!?。！？؟]$/.test(text) ? text : t('{sentence}.', { sentence: text });
}
