import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

export type Product = components['schemas']['Product'];
export type Problem = components['schemas']['Problem'];

/** A client of the API at an address; every call is checked against the description of the API while it compiles. */
export function createApiClient(address: string) {
  const client = createClient<paths>({ baseUrl: address });
  client.use(patience);
  return client;
}

/** Over a limit, or while the database is away, the API says when to come again: once, that is worth it. */
const patience: Middleware = {
  async onResponse({ request, response }) {
    const waitS = Number(response.headers.get('Retry-After') ?? Number.NaN);
    const mayRepeat = request.method === 'GET' && [429, 503].includes(response.status) && waitS <= MAX_WAIT_S;
    if (!mayRepeat) return undefined;
    await new Promise((resolve) => setTimeout(resolve, waitS * 1_000));
    return fetch(request);
  },
};

const MAX_WAIT_S = 5;

/** Walks a list to its end, one page at a time. */
export async function* allProducts(
  client: ReturnType<typeof createApiClient>,
  query: { q?: string; tag?: string; sort?: 'newest' | 'top' | 'discussed' } = {},
): AsyncGenerator<Product> {
  let cursor: string | undefined;
  do {
    const { data, error } = await client.GET('/api/products', {
      params: { query: { ...query, limit: 100, ...(cursor === undefined ? {} : { cursor }) } },
    });
    if (error) throw new Error(`${error.code}: ${error.detail}`);
    yield* data.items;
    cursor = data.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
