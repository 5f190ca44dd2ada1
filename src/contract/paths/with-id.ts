/**
 * Returns a function that fills in the one parameter of a path, mostly an id. Its property `route` is the pattern for
 * Fastify.
 */
export function withId(route: string): ((id: string) => string) & { route: string } {
  return Object.assign((id: string) => route.replace(/:\w+/, encodeURIComponent(id)), { route });
}
