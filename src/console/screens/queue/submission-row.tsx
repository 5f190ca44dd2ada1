import type { SubmissionRecord } from '../../../contract/console/records.ts';
import { fieldOf, PRODUCT_FIELD_NAMES } from '../../../contract/products/fields.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { utcMinute } from '../../../contract/text.ts';
import { TimeAgo, useNow } from '../../../web/ui/time.tsx';
import type { RowState } from '../../ui/list.tsx';
import { SelectBox } from '../../ui/select-box.tsx';
import { ProductPreview } from '../products/product-preview.tsx';
import type { Decision } from './decide.ts';

interface Props {
  submission: SubmissionRecord;
  state: RowState;
  onAct: (action: Decision['action']) => void;
}

export function SubmissionRow({ submission, state, onAct }: Props) {
  const { product, approvedProduct, launchAt, suspectedSpam, waitingSince } = submission;
  const now = useNow();
  return (
    <article className="row submission" aria-label={product.name}>
      <SelectBox name={product.name} state={state} />
      <div className="row-body">
        <p className="row-meta">
          <span>
            by <strong>{product.maker}</strong>
          </span>
          <span>{product.category}</span>
          <TimeAgo time={waitingSince} />
          <span>
            {launchAt !== null && Date.parse(launchAt) > now
              ? `launches ${utcMinute(launchAt)} UTC`
              : 'launches once approved'}
          </span>
          {suspectedSpam && (
            <span className="tag" data-tone="gone">
              Looks like spam
            </span>
          )}
          {approvedProduct && (
            <span className="tag" data-tone="waiting">
              Edited after its approval
            </span>
          )}
        </p>
        <ProductPreview product={product} />
        {approvedProduct ? (
          <Difference before={approvedProduct} after={product} />
        ) : (
          <details className="quiet">
            <summary>Submitted details</summary>
            <SubmissionFields product={product} />
          </details>
        )}
      </div>
      <div className="row-actions">
        <button type="button" className="button" data-tone="primary" data-row-focus onClick={() => onAct('approve')}>
          Approve<span className="visually-hidden"> {product.name}</span>
        </button>
        <button type="button" className="button" data-tone="outline" onClick={() => onAct('schedule')}>
          Schedule<span className="visually-hidden"> {product.name}</span>
        </button>
        <button type="button" className="button" data-tone="outline" onClick={() => onAct('decline')}>
          Decline<span className="visually-hidden"> {product.name}</span>
        </button>
      </div>
    </article>
  );
}

/** The maker's changes since the approval. */
function Difference({ before, after }: { before: Product; after: Product }) {
  const changed = PRODUCT_FIELD_NAMES.filter((name) => textOf(before[name]) !== textOf(after[name]));
  return (
    <dl className="difference">
      {changed.map((name) => (
        <div key={name}>
          <dt>{fieldOf(name).label}</dt>
          <dd>
            <del>{textOf(before[name])}</del>
            <ins>{textOf(after[name])}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function SubmissionFields({ product }: { product: Product }) {
  return (
    <dl className="difference">
      {PRODUCT_FIELD_NAMES.filter((name) => textOf(product[name]) !== '').map((name) => (
        <div key={name}>
          <dt>{fieldOf(name).label}</dt>
          <dd>{textOf(product[name])}</dd>
        </div>
      ))}
    </dl>
  );
}

function textOf(value: Product[keyof Product]): string {
  if (!Array.isArray(value)) return String(value);
  return value
    .map((item) => (typeof item === 'string' ? item : [item.name, item.role].filter(Boolean).join(', ')))
    .join('; ');
}
