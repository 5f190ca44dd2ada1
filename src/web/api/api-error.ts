import { intlLocale, translated } from '../language/translate.ts';

/**
 * A failed API request: the server sent an error or did not respond (`status` 0). `message` may be shown to visitors.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  /** The `title` of the error response, in English. The catalogues translate it. */
  title?: string;

  constructor(status: number, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}

/**
 * Returns the message of any thrown value. On translated pages, an `ApiError` yields its translated title instead,
 * because the API's detailed messages are only in English.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return translated((intlLocale() && error instanceof ApiError && error.title) || error.message);
}
