import { ArrowUpIcon } from '../../ui/icons.tsx';
import { RollingNumber } from '../../ui/rolling-number.tsx';
import { UPVOTE_TEXTS } from './messages.ts';
import { useUpvote } from './use-upvote.ts';

interface UpvoteButtonProps {
  productId: string;
  productName: string;
  upvotes: number;
  size?: 'regular' | 'large';
}

export function UpvoteButton({ productId, productName, upvotes, size = 'regular' }: UpvoteButtonProps) {
  const { upvoted, toggle, confirmed } = useUpvote(productId);
  return (
    <button
      type="button"
      className="upvote"
      data-size={size}
      data-confirmed={confirmed && upvoted}
      aria-pressed={upvoted}
      title={upvoted ? UPVOTE_TEXTS.removeTooltip : UPVOTE_TEXTS.addTooltip}
      onClick={toggle}
    >
      <ArrowUpIcon />
      <span className="visually-hidden">Upvote {productName}, </span>
      <RollingNumber value={upvotes} />
    </button>
  );
}
