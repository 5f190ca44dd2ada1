import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

export type Product = components['schemas']['Product'];
export type Problem = components['schemas']['Problem'];

/** Creates a client for the API at `address`. The compiler checks every call against the OpenAPI document. */
export function createApiClient(address: string) {
  const client = createClient<paths>({ baseUrl: address });
  client.use(retryOnce);
  return client;
}

/** Repeats a GET request once if the response is 429 or 503 and has a short `Retry-After`. */
const retryOnce: Middleware = {
  async onResponse({ request, response }) {
    const waitS = Number(response.headers.get('Retry-After') ?? Number.NaN);
    const mayRepeat = request.method === 'GET' && [429, 503].includes(response.status) && waitS <= MAX_WAIT_S;
    if (!mayRepeat) return undefined;
    await new Promise((resolve) => setTimeout(resolve, waitS * 1_000));
    return fetch(request);
  },
};

const MAX_WAIT_S = 5;

/** Requests the list page by page and yields all products. */
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
