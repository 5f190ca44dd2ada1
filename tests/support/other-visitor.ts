import { randomUUID } from 'node:crypto';
import { type APIResponse, expect, type Page } from '@playwright/test';
import { SESSION_HEADER } from '../../src/contract/api.ts';
import * as paths from '../../src/contract/paths.ts';

/**
 * Creates a client of the site's API that acts as another visitor, unless `session` is that of the page. Fails if a
 * write is refused.
 */
export function otherVisitor({ request }: Pick<Page, 'request'>, session = `session-${randomUUID()}`) {
  const headers = { [SESSION_HEADER]: session };
  const accepted = async (write: Promise<APIResponse>) => {
    const response = await write;
    expect(response.status(), await response.text()).toBeLessThan(300);
    return response;
  };
  return {
    upvote: (productId: string) => accepted(request.put(paths.api.upvote(productId), { headers })),
    like: (commentId: string) => accepted(request.post(paths.api.like(commentId), { headers })),
    async comment(productId: string, content: string): Promise<{ id: string }> {
      const response = await accepted(request.post(paths.api.comments, { headers, data: { productId, content } }));
      return (await response.json()).comment;
    },
  };
}
