import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { t } from '../../language/translate.ts';
import { useBrowserStore } from '../../storage/browser-store.ts';
import { ArrowUpIcon } from '../../ui/icons.tsx';
import { RollingNumber } from '../../ui/rolling-number.tsx';
import { showLoadFailure } from '../../ui/toasts.ts';
import { rememberedVotes, showEarlyVote, upvoteStatusOptions } from './queries.ts';

/** The tooltips (specification, section 4). The document also contains `remove`, for the head script. */
const TOOLTIPS = { add: 'Upvote this product', remove: 'Remove upvote' } as const;

interface UpvoteButtonProps {
  productId: string;
  productName: string;
  upvotes: number;
  size?: 'regular' | 'large';
}

export function UpvoteButton({ productId, productName, upvotes, size = 'regular' }: UpvoteButtonProps) {
  const { upvoted, isKnown, toggle, isConfirmed } = useUpvote(productId);
  const title = t(upvoted ? TOOLTIPS.remove : TOOLTIPS.add);
  return (
    <button
      // Hydration keeps the attributes that the head script has set for a remembered or an early vote. This callback
      // corrects them once the vote is known.
      ref={(button) => {
        if (!button || !isKnown) return;
        button.removeAttribute('data-voted');
        button.setAttribute('aria-pressed', String(upvoted));
        button.title = title;
      }}
      type="button"
      className="upvote"
      data-product={productId}
      data-size={size}
      data-confirmed={isConfirmed && upvoted}
      aria-pressed={upvoted}
      title={title}
      onClick={toggle}
    >
      <ArrowUpIcon />
      <span className="visually-hidden">{`${t('Upvote {name}', { name: productName })}, `}</span>
      <RollingNumber value={upvotes} />
    </button>
  );
}

const NO_STATUS = { data: undefined, isError: false };

/** Loads the code that sends votes. Hydration does not need it, so it loads afterwards. */
const loadWrites = () => import('./set-upvote.ts');

/**
 * Returns whether this visitor upvoted the product, and the click handler. Until the server responds, the remembered
 * vote applies.
 */
function useUpvote(productId: string) {
  const api = useApi();
  const client = useQueryClient();
  const remembered = useBrowserStore(rememberedVotes, (ids) => ids.includes(productId));
  // The server does not know the visitor, and a query for each button would take a tenth of a list's rendering time.
  const { data, isError } =
    // biome-ignore lint/correctness/useHookAtTopLevel: the condition is constant
    typeof window === 'undefined' ? NO_STATUS : useQuery(upvoteStatusOptions(api, productId));
  // A failed check counts as not upvoted (specification, section 8).
  const upvoted = data ?? (remembered && !isError);
  const [isConfirmed, setConfirmed] = useState(false);
  useEffect(() => void loadWrites().catch(() => {}), []);

  async function toggle(): Promise<void> {
    setConfirmed(false);
    showEarlyVote(client, productId);
    const writes = await loadWrites().catch(showLoadFailure);
    if (writes) setConfirmed(await writes.toggleUpvote(api, client, productId));
  }

  return { upvoted, isKnown: upvoted || data === false || isError, toggle, isConfirmed };
}
