import type { Product } from '../../../contract/products/schema.ts';

export function ProductStats({ product }: { product: Product }) {
  return (
    <section className="card side-card" aria-labelledby="stats-title">
      <h2 id="stats-title">Product Stats</h2>
      <dl className="product-stats">
        <div>
          <dt>Launched</dt>
          <dd>{product.launchDate}</dd>
        </div>
        <div>
          <dt>Category</dt>
          <dd>{product.category}</dd>
        </div>
        <div>
          <dt>Maker</dt>
          <dd>{product.maker}</dd>
        </div>
      </dl>
    </section>
  );
}
