import { useQuery } from '@tanstack/react-query';
import * as paths from '../../../contract/paths.ts';
import { useApi } from '../../api/api-context.tsx';
import { t } from '../../language/translate.ts';
import { useProductId } from '../../routing/router.tsx';
import { Link } from '../../ui/link.tsx';
import { Picture } from '../../ui/picture.tsx';
import { relatedProductsOptions } from './queries.ts';

/**
 * The products that share tags with the one on screen, and the shared tags. An empty box reserves the space until they
 * have loaded.
 */
export function RelatedProducts() {
  const { data, isPending } = useQuery(relatedProductsOptions(useApi(), useProductId()));
  if (isPending) return <div className="related" />;
  if (!data || data.items.length === 0) return null;
  return (
    <section className="related" aria-labelledby="related-title">
      <h2 id="related-title">{t('Related products')}</h2>
      <ul className="related-list">
        {data.items.map(({ id, name, image, sharedTags }) => (
          <li key={id} className="card related-item">
            <Picture className="related-picture" src={image} alt="" name={name} width={48} height={48} />
            <div className="related-words">
              <Link className="related-name" to={paths.product(id)} dir="auto">
                {name}
              </Link>
              <p className="related-tags" dir="auto">
                {sharedTags.join(' · ')}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
