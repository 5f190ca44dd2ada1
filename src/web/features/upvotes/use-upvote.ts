import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../../lib/api-context.tsx';
import { setUpvoteOptions, upvoteStatusOptions } from './queries.ts';

/** Whether this visitor upvoted the product (no, until it is known), and the click that changes it. */
export function useUpvote(productId: string) {
  const api = useApi();
  const client = useQueryClient();
  const options = upvoteStatusOptions(api, productId);
  const { data: upvoted = false } = useQuery(options);
  const { mutate, isSuccess } = useMutation(setUpvoteOptions(api, client, productId));

  // Read at the moment of the click: two clicks may come before one render.
  const toggle = () => mutate(!(client.getQueryData(options.queryKey) ?? false));
  return { upvoted, toggle, confirmed: isSuccess };
}
