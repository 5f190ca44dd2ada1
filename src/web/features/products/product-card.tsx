import type { ReactNode } from 'react';
import { LIMITS } from '../../../contract/limits.ts';
import { paths } from '../../../contract/paths.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { DemoButton } from '../../ui/demo-button.tsx';
import { CommentIcon, ExternalIcon } from '../../ui/icons.tsx';
import { Link } from '../../ui/link.tsx';
import { Picture } from '../../ui/picture.tsx';
import { RollingNumber } from '../../ui/rolling-number.tsx';
import { Morph } from './morph.tsx';
import { TagList } from './tag-list.tsx';

/** What other features put on a card. */
export interface CardParts {
  marker: ReactNode;
  save: ReactNode;
  vote: ReactNode;
}

interface ProductCardProps extends CardParts {
  product: Product;
  rank: number;
}

/**
 * The name's link is stretched over the whole card; what can be pressed lies above it. Only the letters in it travel:
 * what travels cannot be pressed on its way, and a card must be.
 */
export function ProductCard({ product, rank, marker, save, vote }: ProductCardProps) {
  return (
    <article className="card product-card">
      {marker}
      <p className="product-card-rank">
        <span className="visually-hidden">Rank </span>
        {rank}
      </p>
      <Morph part="picture" productId={product.id}>
        <Picture
          className="product-card-picture"
          src={product.image}
          alt=""
          width={72}
          height={72}
          priority={rank === 1}
        />
      </Morph>
      <div className="product-card-body">
        <h3 className="product-card-name">
          <Link to={paths.product(product.id)}>
            <Morph part="name" productId={product.id}>
              <span>{product.name}</span>
            </Morph>
          </Link>
        </h3>
        <p className="product-card-description">{product.description}</p>
        <div className="product-card-foot">
          <TagList tags={product.tags.slice(0, LIMITS.cardTags)} />
          <div className="product-card-actions">
            <DemoButton label="Visit Website" icon={<ExternalIcon />} />
            <Link className="button" data-tone="quiet" to={paths.productComments(product.id)} title="View Comments">
              <CommentIcon />
              <span>
                <span className="visually-hidden">View Comments, </span>
                <RollingNumber value={product.comments} />
                <span className="visually-hidden"> on {product.name}</span>
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
