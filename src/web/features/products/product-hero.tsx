import type { ReactNode } from 'react';
import * as paths from '../../../contract/paths.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { plural, rich, t, translated, withElements } from '../../language/translate.ts';
import { DemoButton } from '../../ui/demo-button.tsx';
import { CommentIcon, ExternalIcon } from '../../ui/icons.tsx';
import { Link } from '../../ui/link.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Picture } from '../../ui/picture.tsx';
import { RollingNumber } from '../../ui/rolling-number.tsx';
import { UserText } from '../../ui/user-text.tsx';
import { Morph } from './morph.tsx';
import { TagList } from './tag-list.tsx';

/** Longer names get a smaller font, because they would fill a phone's screen at the usual size. */
const LONG_NAME_CHARACTERS = 60;

interface ProductHeroProps {
  product: Product;
  /** The upvote button, the standing, and the save and share buttons, which other features provide. */
  vote: ReactNode;
  standing: ReactNode;
  share: ReactNode;
}

export function ProductHero({ product, vote, standing, share }: ProductHeroProps) {
  return (
    <header className="product-hero">
      <Morph part="picture" productId={product.id}>
        <Picture
          className="product-hero-picture"
          src={product.image}
          alt=""
          name={product.name}
          width={128}
          height={128}
          priority
        />
      </Morph>
      <div className="product-hero-title">
        <Morph part="name" productId={product.id}>
          <PageHeading dir="auto" className={product.name.length > LONG_NAME_CHARACTERS ? 'long-name' : undefined}>
            {product.name}
          </PageHeading>
        </Morph>
        <p className="product-hero-maker">
          {rich('by {maker}', { maker: <bdi>{translated(product.maker, 'default:')}</bdi> })}
        </p>
      </div>
      <div className="product-hero-vote">{vote}</div>
      <div className="product-hero-text">
        <noscript>
          {typeof window === 'undefined' && (
            <p className="needs-script">{t('Upvoting, saving and sharing need JavaScript.')}</p>
          )}
        </noscript>
        {standing}
        <p className="product-description" dir="auto">
          <UserText text={translated(product.description, 'default:')} />
        </p>
        <TagList tags={product.tags} />
        <div className="product-hero-actions">
          <Link className="button" data-tone="outline" to={paths.COMMENTS_HASH}>
            <CommentIcon />
            <span>
              {withElements(plural('{number} comment', '{number} comments', product.comments, { number: '{number}' }), {
                number: <RollingNumber value={product.comments} />,
              })}
            </span>
          </Link>
          {share}
          <DemoButton label="Visit Website" icon={<ExternalIcon />} tone="outline" />
        </div>
      </div>
    </header>
  );
}
