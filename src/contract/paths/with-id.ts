/** An address that holds one id, and its `route` as Fastify writes it. */
export function withId(route: string): ((id: string) => string) & { route: string } {
  return Object.assign((id: string) => route.replace(':id', encodeURIComponent(id)), { route });
}
