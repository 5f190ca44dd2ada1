/** The addresses of submissions. Apart from `paths.ts`, so pages without submissions do not load them. */
const submission = (id: string) => `/api/submissions/${encodeURIComponent(id)}`;

/** An address, and its `route` as Fastify writes it. */
const withRoute = <Build extends (...parts: never[]) => string>(route: string, build: Build) =>
  Object.assign(build, { route });

export const submissionPaths = {
  submissions: '/api/submissions',
  submission: withRoute('/api/submissions/:id', submission),
  image: withRoute('/api/submissions/:id/image', (id: string) => `${submission(id)}/image`),
  screenshots: withRoute('/api/submissions/:id/screenshots', (id: string) => `${submission(id)}/screenshots`),
  /** `n` is the index in `product.screenshots`, from 0 on. */
  screenshot: withRoute(
    '/api/submissions/:id/screenshots/:n',
    (id: string, n: number) => `${submission(id)}/screenshots/${n}`,
  ),
  /** The page on which a maker follows a submission. Browsers do not send the fragment, so no log holds the key. */
  makerLink: (id: string, makerKey: string) => `/product/${encodeURIComponent(id)}#maker=${makerKey}`,
} as const;
