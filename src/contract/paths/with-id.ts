/** Returns a function that builds paths with an id, and has the pattern for Fastify as its property `route`. */
export function withId(route: string): ((id: string) => string) & { route: string } {
  return Object.assign((id: string) => route.replace(':id', encodeURIComponent(id)), { route });
}
