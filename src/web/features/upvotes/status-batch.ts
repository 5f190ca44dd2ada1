import type { Api } from '../../../contract/api.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { UPVOTE_MESSAGES } from '../../../contract/upvotes/messages.ts';
import { reasonOf } from '../../lib/api-error.ts';

type Ask = (productId: string) => Promise<boolean>;
interface Waiting {
  resolve: (upvoted: boolean) => void;
  reject: (error: unknown) => void;
}

/** Collects what is asked within one turn of the event loop into as few requests as the API allows. */
export function batchUpvoteStatus(api: Pick<Api, 'getUpvoted'>): Ask {
  let waiting = new Map<string, Waiting[]>();

  async function send(batch: [string, Waiting[]][]): Promise<void> {
    try {
      const { upvoted } = await api.getUpvoted(batch.map(([id]) => id));
      const yes = new Set(upvoted);
      for (const [id, askers] of batch) for (const asker of askers) asker.resolve(yes.has(id));
    } catch (cause) {
      // One error object for the whole batch, so that it is logged once.
      const error = new Error(UPVOTE_MESSAGES.checkFailed(reasonOf(cause)), { cause });
      for (const [, askers] of batch) for (const asker of askers) asker.reject(error);
    }
  }

  function flush(): void {
    const entries = [...waiting];
    waiting = new Map();
    for (let from = 0; from < entries.length; from += LIMITS.upvoteQueryProducts) {
      void send(entries.slice(from, from + LIMITS.upvoteQueryProducts));
    }
  }

  return (productId) =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) setTimeout(flush, 0);
      waiting.set(productId, [...(waiting.get(productId) ?? []), { resolve, reject }]);
    });
}

const batches = new WeakMap<object, Ask>();

/** The one batch that every button of the page shares. */
export function upvoteStatusOf(api: Api): Ask {
  const ask = batches.get(api) ?? batchUpvoteStatus(api);
  batches.set(api, ask);
  return ask;
}
