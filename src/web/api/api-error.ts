import { intlLocale, translated } from '../language/translate.ts';
/** A failed response of the API, or no response at all (`status` 0). `message` may be shown to visitors. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  /** The kind of problem in English, which the catalogues translate. */
  title?: string;

  constructor(status: number, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}

/** Returns the message of any thrown value, in the language of the page. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return translated((intlLocale() && error instanceof ApiError && error.title) || error.message);
}
