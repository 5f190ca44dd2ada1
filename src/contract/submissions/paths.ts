/** Builds the path of a submission. This file is separate from `paths.ts`, so pages without submissions do not load it. */
const submission = (id: string) => `/api/submissions/${encodeURIComponent(id)}`;

/** Adds the pattern for Fastify to a function that builds paths, as its property `route`. */
const withRoute = <Build extends (...parts: never[]) => string>(route: string, build: Build) =>
  Object.assign(build, { route });

export const submissionPaths = {
  submissions: '/api/submissions',
  submission: withRoute('/api/submissions/:id', submission),
  image: withRoute('/api/submissions/:id/image', (id: string) => `${submission(id)}/image`),
  screenshots: withRoute('/api/submissions/:id/screenshots', (id: string) => `${submission(id)}/screenshots`),
  /** `n` is the zero-based index in `product.screenshots`. */
  screenshot: withRoute(
    '/api/submissions/:id/screenshots/:n',
    (id: string, n: number) => `${submission(id)}/screenshots/${n}`,
  ),
  /** The page on which a maker follows a submission. Browsers do not send the fragment, so no server logs the key. */
  makerLink: (id: string, makerKey: string) => `/product/${encodeURIComponent(id)}#maker=${makerKey}`,
} as const;
