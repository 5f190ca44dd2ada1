import { InfiniteQueryObserver, type QueryClient } from '@tanstack/react-query';

/** A list of thousands is not read to its end for one that is new in it. */
const MOST_PAGES = 5;

/** Loads further pages of the list on screen until what is looked for is there, or for a few pages in vain. */
export async function readOn<Found>(
  client: QueryClient,
  queryKey: readonly string[],
  find: () => Found | undefined,
): Promise<Found | undefined> {
  for (let page = 0; page < MOST_PAGES && find() === undefined; page += 1) {
    const [query] = client.getQueryCache().findAll({ queryKey, type: 'active' });
    const observer = query?.observers.find((each) => each instanceof InfiniteQueryObserver);
    if (!observer) break;
    const { hasNextPage } = await observer.fetchNextPage();
    if (!hasNextPage) break;
  }
  return find();
}
