import { withId } from '../paths/api.ts';
import * as paths from '../paths.ts';

/** The URL paths of submissions. This file is separate from `paths.ts`, so pages without submissions do not load it. */
export const submissionPaths = {
  submissions: '/api/submissions',
  submission: withId('/api/submissions/:id'),
  image: withId('/api/submissions/:id/image'),
  screenshots: withId('/api/submissions/:id/screenshots'),
  /** `n` is the zero-based index in `product.screenshots`. */
  screenshot: Object.assign((id: string, n: number) => `/api/submissions/${encodeURIComponent(id)}/screenshots/${n}`, {
    route: '/api/submissions/:id/screenshots/:n',
  }),
  /** The page on which a maker follows a submission. Browsers do not send the fragment, so no server logs the key. */
  makerLink: (id: string, makerKey: string) => `${paths.product(id)}#maker=${makerKey}`,
} as const;
