import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { SESSION_HEADER } from '../../src/contract/api.ts';
import * as paths from '../../src/contract/paths.ts';

/** Creates a client of the site's API that acts as another visitor, unless `session` is that of the page. */
export function otherVisitor({ request }: Pick<Page, 'request'>, session = `session-${randomUUID()}`) {
  const headers = { [SESSION_HEADER]: session };
  return {
    upvote: (productId: string) => request.put(paths.api.upvote(productId), { headers }),
    like: (commentId: string) => request.post(paths.api.like(commentId), { headers }),
    async comment(productId: string, content: string): Promise<{ id: string }> {
      const response = await request.post(paths.api.comments, { headers, data: { productId, content } });
      return (await response.json()).comment;
    },
  };
}
