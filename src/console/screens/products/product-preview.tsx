import { LIMITS } from '../../../contract/limits.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { formatCount, formatQuantity } from '../../../contract/text.ts';
import { Picture } from '../../../web/ui/picture.tsx';

/** A product as the product list of the site shows it. */
export function ProductPreview({ product }: { product: Product }) {
  const { name, description, image, tags, upvotes } = product;
  return (
    <div className="preview card">
      <Picture className="preview-picture" src={image} alt="" name={name} width={64} height={64} />
      <div className="preview-body">
        <p className="preview-name" dir="auto">
          {name}
        </p>
        <p className="preview-text" dir="auto">
          {description}
        </p>
        <p className="row-tags">
          {tags.slice(0, LIMITS.cardTags).map((tag) => (
            <span key={tag} className="badge" dir="auto">
              {tag}
            </span>
          ))}
        </p>
      </div>
      <p className="preview-votes" aria-hidden="true">
        ▲<span>{formatCount(upvotes)}</span>
      </p>
      <p className="visually-hidden">{formatQuantity(upvotes, 'upvote')}</p>
    </div>
  );
}
