import type { ReactNode } from 'react';
import { COMMENTS_HASH } from '../../../contract/paths.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { DemoButton } from '../../ui/demo-button.tsx';
import { CommentIcon, ExternalIcon } from '../../ui/icons.tsx';
import { Link } from '../../ui/link.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Picture } from '../../ui/picture.tsx';
import { RollingNumber } from '../../ui/rolling-number.tsx';
import { Morph } from './morph.tsx';
import { TagList } from './tag-list.tsx';

interface ProductHeroProps {
  product: Product;
  /** The upvote and the way to share, which are other features'. */
  vote: ReactNode;
  share: ReactNode;
}

export function ProductHero({ product, vote, share }: ProductHeroProps) {
  return (
    <header className="product-hero">
      <Morph part="picture" productId={product.id}>
        <Picture className="product-hero-picture" src={product.image} alt="" width={128} height={128} priority />
      </Morph>
      <div className="product-hero-title">
        <Morph part="name" productId={product.id}>
          <PageHeading>{product.name}</PageHeading>
        </Morph>
        <p className="product-hero-maker">by {product.maker}</p>
      </div>
      <div className="product-hero-vote">{vote}</div>
      <div className="product-hero-text">
        <p className="product-description">{product.description}</p>
        <TagList tags={product.tags} />
        <div className="product-hero-actions">
          <Link className="button" data-tone="outline" to={COMMENTS_HASH}>
            <CommentIcon />
            <span>
              <RollingNumber value={product.comments} /> {product.comments === 1 ? 'comment' : 'comments'}
            </span>
          </Link>
          {share}
          <DemoButton label="Visit Website" icon={<ExternalIcon />} tone="outline" />
        </div>
      </div>
    </header>
  );
}
