import type { ReactNode } from 'react';
import { LIMITS } from '../../../contract/limits.ts';
import * as paths from '../../../contract/paths.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { t, translated } from '../../language/translate.ts';
import { DemoButton } from '../../ui/demo-button.tsx';
import { CommentIcon, ExternalIcon } from '../../ui/icons.tsx';
import { Link } from '../../ui/link.tsx';
import { Picture } from '../../ui/picture.tsx';
import { RollingNumber } from '../../ui/rolling-number.tsx';
import { SkeletonBox, SkeletonLine } from '../../ui/skeleton.tsx';
import { TimeAgo } from '../../ui/time.tsx';
import { Morph } from './morph.tsx';
import { TagList } from './tag-list.tsx';

/** Parts of a card that other features provide. */
export interface CardParts {
  marker: ReactNode;
  save: ReactNode;
  vote: ReactNode;
}

interface ProductCardProps extends CardParts {
  product: Product;
  rank: number;
  /** Whether the card is the first one on the page. If so, the browser loads its picture first. */
  isFirst?: boolean;
  /** The search term. Its matches are marked. */
  q?: string | undefined;
}

/**
 * A product in a list. The link of the name covers the whole card, and other controls lie above it. In the view
 * transition, only the picture and the name's text move, not the link: moving elements cannot be clicked, and the card
 * must stay clickable.
 */
export function ProductCard({ product, rank, isFirst, q, marker, save, vote }: ProductCardProps) {
  return (
    <article className="card product-card">
      {marker}
      <p className="product-card-rank">
        <span className="visually-hidden">{`${t('Rank')} `}</span>
        {rank}
      </p>
      <Morph part="picture" productId={product.id}>
        <Picture
          className="product-card-picture"
          src={product.image}
          alt=""
          name={product.name}
          width={72}
          height={72}
          priority={isFirst}
        />
      </Morph>
      <div className="product-card-body">
        <h3 className="product-card-name">
          <Link to={paths.product(product.id)}>
            <Morph part="name" productId={product.id}>
              <span dir="auto">{marked(product.name, q)}</span>
            </Morph>
          </Link>
        </h3>
        <p className="product-card-origin">
          <bdi>{translated(product.maker, 'default:')}</bdi> · <TimeAgo time={product.createdAt} />
        </p>
        <p className="product-card-description" dir="auto">
          {marked(translated(product.description, 'default:'), q)}
        </p>
        <div className="product-card-foot">
          <TagList tags={product.tags.slice(0, LIMITS.cardTags)} />
          <div className="product-card-actions">
            <DemoButton label="Visit Website" icon={<ExternalIcon />} />
            <Link
              className="button"
              data-tone="quiet"
              to={paths.productComments(product.id)}
              title={t('View Comments')}
            >
              <CommentIcon />
              <span>
                <span className="visually-hidden">{`${t('View Comments')}, `}</span>
                <RollingNumber value={product.comments} />
                <span className="visually-hidden">{` ${t('on {name}', { name: product.name })}`}</span>
              </span>
            </Link>
            {save}
          </div>
        </div>
      </div>
      <div className="product-card-vote">{vote}</div>
    </article>
  );
}

/** The maximum number of marks in a text. Otherwise, a common letter would add thousands of elements to the page. */
const MAX_MARKS = 50;

/** Returns the text with the matches of the search term marked, regardless of case and of decomposed letters. */
function marked(text: string, q?: string): ReactNode {
  if (!q) return text;
  const term = new RegExp(`(${q.normalize().replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')})`, 'iu');
  // The term is in a capturing group, so every second part is a match.
  const parts = text.normalize().split(term);
  const end = 2 * MAX_MARKS;
  if (parts.length > end) parts[end] = parts.splice(end).join('');
  return parts.map((part, index) => {
    const Part = index % 2 ? 'mark' : 'span';
    // biome-ignore lint/suspicious/noArrayIndexKey: a text's parts have no ids and never move
    return <Part key={index}>{part}</Part>;
  });
}

/** The placeholder of a card while it loads. */
function ProductCardSkeleton() {
  return (
    <div className="card product-card" aria-hidden="true">
      <span className="product-card-rank" />
      <SkeletonBox className="product-card-picture" />
      <div className="product-card-body">
        <SkeletonLine width="short" />
        <div className="product-card-description">
          <SkeletonLine width="long" />
          <SkeletonLine width="medium" />
        </div>
        <SkeletonLine width="medium" />
      </div>
      <SkeletonBox className="product-card-vote-skeleton" />
    </div>
  );
}

export function ProductCardSkeletons({ count }: { count: number }) {
  return Array.from({ length: count }, (_, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: placeholders are all alike and never move
    <ProductCardSkeleton key={index} />
  ));
}
