import { useQuery } from '@tanstack/react-query';
import type { Product, TeamMember } from '../../../contract/products/schema.ts';
import { useApi } from '../../api/api-context.tsx';
import { t, translated } from '../../language/translate.ts';
import { useProductId } from '../../routing/router.tsx';
import { Avatar } from '../../ui/avatar.tsx';
import { productDetailOptions } from './queries.ts';

/** The team and the stats of the product on screen. */
export function ProductSide() {
  const id = useProductId();
  const { data } = useQuery({
    ...productDetailOptions(useApi(), id),
    // Disabled, because the page itself reads the product. A product from a list is complete, except for the
    // neighbours.
    enabled: false,
  });
  if (!data) return null;
  return (
    <>
      <TeamList team={data.product.team} />
      <ProductStats product={data.product} />
    </>
  );
}

function TeamList({ team }: { team: readonly TeamMember[] }) {
  return (
    <section className="card side-card" aria-labelledby="team-title">
      <h2 id="team-title">{t('Meet the team')}</h2>
      {team.length === 0 && <p className="side-card-empty">{t('The team has not introduced itself yet.')}</p>}
      <ul className="team-list">
        {team.map((member) => (
          <li key={`${member.name} ${member.role}`}>
            <Avatar name={member.name} src={member.avatar} />
            <div className="team-list-words">
              <p className="team-list-name" dir="auto">
                {member.name}
              </p>
              <p className="team-list-role" dir="auto">
                {member.role}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function ProductStats({ product }: { product: Product }) {
  return (
    <section className="card side-card" aria-labelledby="stats-title">
      <h2 id="stats-title">{t('Product Stats')}</h2>
      <dl className="product-stats">
        <div>
          <dt>{t('Launched')}</dt>
          <dd dir="auto">{translated(product.launchDate, 'default:')}</dd>
        </div>
        <div>
          <dt>{t('Category')}</dt>
          <dd dir="auto">{translated(product.category, 'default:')}</dd>
        </div>
        <div>
          <dt>{t('Maker')}</dt>
          <dd dir="auto">{translated(product.maker, 'default:')}</dd>
        </div>
      </dl>
    </section>
  );
}
