/**
 * Returns a function that inserts an id into a path with one parameter. The function's property `route` is the path
 * pattern for Fastify.
 */
export function withId(route: string): ((id: string) => string) & { route: string } {
  return Object.assign((id: string) => route.replace(/:\w+/, encodeURIComponent(id)), { route });
}

/** Returns a path with a query string. Parameters that are undefined or empty are omitted. */
export function withQuery(path: string, query: object = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') params.set(name, String(value));
  }
  // Chrome 112 and Safari 16 lack `params.size`.
  return `${path}?${params}`.replace(/\?$/, '');
}

/** The prefix of all paths of the API. */
export const prefix = '/api/';
export const products = '/api/products';
export const product = /* @__PURE__ */ withId('/api/products/:id');
export const related = /* @__PURE__ */ withId('/api/products/:id/related');
export const upvotes = '/api/upvotes';
export const upvote = /* @__PURE__ */ withId('/api/products/:id/upvote');
export const productComments = /* @__PURE__ */ withId('/api/products/:id/comments');
export const heldComments = /* @__PURE__ */ withId('/api/products/:id/comments/held');
export const comments = '/api/comments';
export const events = '/api/events';
/** The OpenAPI document, and the page with the API reference. */
export const openApi = '/api/openapi.json';
export const reference = '/api/docs';
export const leaderboards = '/api/leaderboards';
export const leaderboard = /* @__PURE__ */ withId('/api/leaderboards/:id');
export const tally = /* @__PURE__ */ withId('/api/leaderboards/:id/tally');
export const standings = /* @__PURE__ */ withId('/api/products/:id/standing');
export const moderationLog = '/api/moderation-log';
export const like = /* @__PURE__ */ withId('/api/comments/:id/like');
