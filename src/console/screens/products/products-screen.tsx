import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import { MAX_LISTED_REMOVALS, type RemovedProductRecord } from '../../../contract/console/records.ts';
import * as paths from '../../../contract/paths.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { formatCount, formatQuantity, utcMinute } from '../../../contract/text.ts';
import { Picture } from '../../../web/ui/picture.tsx';
import { TimeAgo } from '../../../web/ui/time.tsx';
import { call, consoleKeys } from '../../api/console-api.ts';
import { usePages } from '../../api/pages.ts';
import { closeDialog, openDialog, setQuery, useConsoleLocation } from '../../location.ts';
import { ReasonDialog } from '../../ui/form-dialog.tsx';
import { type Deselect, List } from '../../ui/list.tsx';
import { FilterTag, Page, ScreenLink, Segments, Select } from '../../ui/page.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { type RowState, SelectBox } from '../../ui/selection.tsx';
import { Empty } from '../../ui/states.tsx';
import { ProductEditor } from './product-editor.tsx';
import { useRemoveProducts, useRestoreProducts } from './remove-products.ts';

const STATES = [
  ['all', 'All'],
  ['launched', 'Launched'],
  ['scheduled', 'Scheduled'],
  ['removed', 'Removed'],
] as const;

const SORTS = [
  ['newest', 'Newest'],
  ['top', 'Most upvotes'],
  ['discussed', 'Most comments'],
  ['name', 'Alphabetical'],
] as const;

export function ProductsScreen() {
  const { query } = useConsoleLocation();
  const q = query.get('q') ?? '';
  const tag = query.get('tag') ?? undefined;
  const category = query.get('category') ?? '';
  const categories = useCategories(category);
  const state = STATES.find(([each]) => each === query.get('state'))?.[0] ?? 'all';
  const sort = SORTS.find(([each]) => each === query.get('sort'))?.[0] ?? 'newest';
  const editing = query.get('edit');

  return (
    <Page
      title="Products"
      toolbar={
        <>
          {state !== 'removed' && (
            <SearchField label="Search products" value={q} onChange={(text) => setQuery({ q: text })} />
          )}
          <Segments
            label="State"
            value={state}
            options={STATES}
            onChange={(next) => setQuery({ state: next === 'all' ? undefined : next })}
          />
          {state !== 'removed' && (
            <Select
              label="Category"
              value={category}
              options={categories}
              onChange={(next) => setQuery({ category: next })}
            />
          )}
          {(state === 'all' || state === 'launched') && (
            <Select
              label="Order"
              value={sort}
              options={SORTS}
              onChange={(next) => setQuery({ sort: next === 'newest' ? undefined : next })}
            />
          )}
          {tag && <FilterTag parameter="tag" value={tag} effect="show products with any tag" />}
        </>
      }
    >
      {state === 'removed' ? <RemovedProducts /> : <ProductList filter={{ q, tag, category, state, sort }} />}
      {editing !== null && (
        <ProductEditor key={editing} id={editing} onClose={() => closeDialog({ edit: undefined })} />
      )}
    </Page>
  );
}

/** Returns the options of the category filter: all known categories, and the one in the URL. */
function useCategories(current: string): (readonly [string, string])[] {
  const { data } = useQuery({
    queryKey: consoleKeys.categories,
    queryFn: ({ signal }) => call<{ categories: string[] }>(CONSOLE_API.categories, { signal }),
    staleTime: 5 * 60_000,
  });
  const known = data?.categories ?? [];
  const all = current === '' || known.includes(current) ? known : [current, ...known];
  return [['', 'All'], ...all.map((each) => [each, each] as const)];
}

function ProductList({ filter }: { filter: Record<string, string | undefined> }) {
  const pages = usePages<Product>('products', CONSOLE_API.products, filter);
  const remove = useRemoveProducts();
  const [removal, setRemoval] = useState<{ products: readonly Product[]; deselect: Deselect<Product> }>();
  const toRemove = removal?.products;
  const isNarrowed = Boolean(filter.q || filter.tag || filter.category || filter.state !== 'all');

  return (
    <>
      <List
        label="Products"
        pages={pages}
        keyOf={({ id }) => id}
        estimatePx={73}
        onOpen={({ id }) => openDialog({ edit: id })}
        keys={{
          d: (products, deselect) => setRemoval({ products, deselect }),
          e: ([product]) => product && openDialog({ edit: product.id }),
        }}
        empty={
          <Empty title={isNarrowed ? 'No product matches' : 'No products yet'}>
            <p>{isNarrowed ? 'Try another word or state.' : 'Import a file, or wait for the first submission.'}</p>
          </Empty>
        }
        renderRow={(product, state, deselect) => (
          <ProductRow product={product} state={state} onRemove={() => setRemoval({ products: [product], deselect })} />
        )}
        renderBar={(products, deselect) => (
          <button
            type="button"
            className="button"
            data-tone="outline"
            onClick={() => setRemoval({ products, deselect })}
          >
            Remove
          </button>
        )}
      />
      {toRemove && (
        <ReasonDialog
          title={toRemove.length === 1 ? `Remove ${toRemove[0]?.name}` : `Remove ${toRemove.length} products`}
          ids={toRemove.map(({ id }) => id)}
          note={`${formatQuantity(sum(toRemove, 'upvotes'), 'upvote')} and ${formatQuantity(sum(toRemove, 'comments'), 'comment')} are removed with ${toRemove.length === 1 ? 'it' : 'them'}, and restored when the removal is undone.`}
          suggestions={['Spam', 'Not a product', 'Duplicate', 'At its maker’s request']}
          label="Remove"
          onClose={() => setRemoval(undefined)}
          onSubmit={(reason) => remove(toRemove, removal.deselect, reason)}
        />
      )}
    </>
  );
}

const sum = (products: readonly Product[], key: 'upvotes' | 'comments') =>
  products.reduce((total, product) => total + product[key], 0);

function ProductRow({ product, state, onRemove }: { product: Product; state: RowState; onRemove: () => void }) {
  const { id, name, category, image, upvotes, comments, createdAt, tags } = product;
  const isScheduled = Date.parse(createdAt) > Date.now();
  return (
    <div className="row">
      <SelectBox name={name} state={state} />
      <Picture className="row-picture" src={image} alt="" name={name} width={44} height={44} />
      <div className="row-body">
        <p className="row-line">
          <button type="button" className="row-title" data-row-focus onClick={() => openDialog({ edit: id })}>
            <bdi>{name}</bdi>
          </button>
          {isScheduled && (
            <span className="tag" data-tone="waiting">
              Launches {utcMinute(createdAt)} UTC
            </span>
          )}
        </p>
        <p className="row-meta">
          <bdi>{category}</bdi>
          {!isScheduled && <TimeAgo time={createdAt} />}
          <span className="row-tags">
            {tags.slice(0, 3).map((tag) => (
              <button key={tag} type="button" className="tag" dir="auto" onClick={() => setQuery({ tag })}>
                {tag}
              </button>
            ))}
          </span>
        </p>
      </div>
      <p className="row-numbers">
        <span title="Upvotes" aria-hidden="true">
          ▲ {formatCount(upvotes)}
        </span>
        <span className="visually-hidden">{formatQuantity(upvotes, 'upvote')}</span>
        <ScreenLink screen="comments" query={{ product: id }} title="Comments">
          {formatQuantity(comments, 'comment')}
        </ScreenLink>
      </p>
      <div className="row-actions">
        {!isScheduled && (
          <a className="button" data-tone="quiet" href={paths.product(id)}>
            View<span className="visually-hidden"> {name} on the site</span>
          </a>
        )}
        <button type="button" className="button" data-tone="outline" onClick={onRemove}>
          Remove<span className="visually-hidden"> {name}</span>
        </button>
      </div>
    </div>
  );
}

function RemovedProducts() {
  const pages = usePages<RemovedProductRecord>('products', CONSOLE_API.removedProducts);
  const restore = useRestoreProducts();
  return (
    <>
      <List
        label="Removed products"
        pages={pages}
        keyOf={({ removalId }) => removalId}
        estimatePx={64}
        keys={{ a: (products, deselect) => void restore(products, deselect) }}
        empty={
          <Empty title="No removed products">
            <p>Removed products wait here with their upvotes and comments until they are restored.</p>
          </Empty>
        }
        renderRow={(product, state, deselect) => (
          <div className="row">
            <SelectBox name={product.name} state={state} />
            <div className="row-body">
              <p className="row-line">
                <bdi>{product.name}</bdi>
              </p>
              <p className="row-meta">
                <span>{product.id}</span>
                <span>
                  removed <TimeAgo time={product.removedAt} />
                </span>
                <span>
                  {formatQuantity(product.upvotes, 'upvote')}, {formatQuantity(product.comments, 'comment')}
                </span>
                {product.reason !== null && (
                  <span className="tag" data-tone="gone" dir="auto">
                    {product.reason}
                  </span>
                )}
              </p>
            </div>
            <div className="row-actions">
              <button
                type="button"
                className="button"
                data-tone="outline"
                data-row-focus
                onClick={() => void restore([product], deselect)}
              >
                Restore<span className="visually-hidden"> {product.name}</span>
              </button>
            </div>
          </div>
        )}
        renderBar={(products, deselect) => (
          <button type="button" className="button" data-tone="outline" onClick={() => void restore(products, deselect)}>
            Restore
          </button>
        )}
      />
      {pages.count >= MAX_LISTED_REMOVALS && (
        <p>
          At most the last {formatCount(MAX_LISTED_REMOVALS)} removals are listed. To restore others, use{' '}
          <code>groundswell products restore</code> on the server.
        </p>
      )}
    </>
  );
}
