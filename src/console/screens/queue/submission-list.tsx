import { useState } from 'react';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { SubmissionRecord } from '../../../contract/console/records.ts';
import { fieldOf, PRODUCT_FIELD_NAMES, type ProductFieldName } from '../../../contract/products/fields.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { utcMinute } from '../../../contract/text.ts';
import { Picture } from '../../../web/ui/picture.tsx';
import { TimeAgo } from '../../../web/ui/time.tsx';
import { usePages } from '../../api/pages.ts';
import { FormDialog, type Progress, ReasonDialog } from '../../ui/form-dialog.tsx';
import { type Deselect, List } from '../../ui/list.tsx';
import { type RowState, SelectBox } from '../../ui/selection.tsx';
import { Empty } from '../../ui/states.tsx';
import { ProductPreview } from '../products/product-preview.tsx';
import { type Decision, useDecide } from './decide.ts';

interface OpenDialog {
  action: 'decline' | 'schedule';
  submissions: readonly SubmissionRecord[];
  deselect: Deselect<SubmissionRecord>;
}

/** Waiting submissions, suspected spam last. The key A approves, D declines with a reason, and S schedules. */
export function SubmissionList() {
  const pages = usePages<SubmissionRecord>('queue', CONSOLE_API.submissions);
  const decide = useDecide();
  const [openDialog, setOpenDialog] = useState<OpenDialog>();

  function act(
    action: Decision['action'],
    submissions: readonly SubmissionRecord[],
    deselect: Deselect<SubmissionRecord>,
  ): void {
    if (action === 'approve') void decide({ action }, submissions, deselect);
    else setOpenDialog({ action, submissions, deselect });
  }

  return (
    <>
      <List
        label="Submissions"
        pages={pages}
        keyOf={({ id }) => id}
        versionOf={({ revision }) => revision}
        estimatePx={200}
        empty={
          <Empty title="All caught up">
            <p>New submissions appear here, oldest first.</p>
          </Empty>
        }
        keys={{
          a: (submissions, deselect) => act('approve', submissions, deselect),
          d: (submissions, deselect) => act('decline', submissions, deselect),
          s: (submissions, deselect) => act('schedule', submissions, deselect),
        }}
        renderRow={(submission, state, deselect) => (
          <SubmissionRow
            submission={submission}
            state={state}
            onAct={(action) => act(action, [submission], deselect)}
          />
        )}
        renderBar={(submissions, deselect) => (
          <>
            {(['approve', 'schedule', 'decline'] as const).map((action) => (
              <button
                key={action}
                type="button"
                className="button"
                data-tone={action === 'approve' ? 'primary' : 'outline'}
                onClick={() => act(action, submissions, deselect)}
              >
                {{ approve: 'Approve', schedule: 'Schedule', decline: 'Decline' }[action]}
              </button>
            ))}
          </>
        )}
      />
      {openDialog?.action === 'decline' && (
        <ReasonDialog
          title={titleOf('Decline', openDialog.submissions)}
          ids={openDialog.submissions.map(({ id }) => id)}
          note="The maker sees the reason and can submit another version."
          suggestions={[
            'Not a tech product',
            'Looks like spam',
            'Please describe what it does',
            'The picture is missing',
          ]}
          label="Decline"
          isRequired
          onClose={() => setOpenDialog(undefined)}
          onSubmit={(reason, progress) =>
            decide({ action: 'decline', reason }, openDialog.submissions, openDialog.deselect, progress)
          }
        />
      )}
      {openDialog?.action === 'schedule' && (
        <ScheduleDialog
          title={titleOf('Schedule', openDialog.submissions)}
          launchAt={openDialog.submissions[0]?.launchAt ?? null}
          onClose={() => setOpenDialog(undefined)}
          onSubmit={(launchAt, progress) =>
            decide({ action: 'schedule', launchAt }, openDialog.submissions, openDialog.deselect, progress)
          }
        />
      )}
    </>
  );
}

function titleOf(verb: string, submissions: readonly SubmissionRecord[]): string {
  return submissions.length === 1
    ? `${verb} ${submissions[0]?.product.name}`
    : `${verb} ${submissions.length} submissions`;
}

interface RowProps {
  submission: SubmissionRecord;
  state: RowState;
  onAct: (action: Decision['action']) => void;
}

function SubmissionRow({ submission, state, onAct }: RowProps) {
  const { product, approvedProduct, launchAt, suspectedSpam, waitingSince } = submission;
  // `changed` may be empty, for example if the maker changed only the launch time, or if an operator declined the
  // approved launch.
  const changed = PRODUCT_FIELD_NAMES.filter(
    (name) => approvedProduct && textOf(approvedProduct[name]) !== textOf(product[name]),
  );
  return (
    <article className="row submission" aria-label={product.name}>
      <SelectBox name={product.name} state={state} />
      <div className="row-body">
        <p className="row-meta">
          <span>
            by <strong dir="auto">{product.maker}</strong>
          </span>
          <bdi>{product.category}</bdi>
          <TimeAgo time={waitingSince} />
          <span>{launchAt === null ? 'launches once approved' : `launches ${utcMinute(launchAt)} UTC`}</span>
          {suspectedSpam && (
            <span className="tag" data-tone="gone">
              Looks like spam
            </span>
          )}
          {approvedProduct && (
            <span className="tag" data-tone="waiting">
              {changed.length > 0 ? 'Edited after its approval' : 'Same details as when approved'}
            </span>
          )}
        </p>
        <ProductPreview product={product} />
        {approvedProduct && changed.length > 0 && (
          <FieldList names={changed} before={approvedProduct} product={product} />
        )}
        <details>
          <summary className="quiet">Submitted details</summary>
          <FieldList names={PRODUCT_FIELD_NAMES.filter((name) => textOf(product[name]) !== '')} product={product} />
        </details>
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

interface FieldListProps {
  names: readonly ProductFieldName[];
  /** The approved version. If it is set, the list shows only the changes since that version. */
  before?: Product;
  product: Product;
}

function FieldList({ names, before, product }: FieldListProps) {
  return (
    <dl className="difference">
      {names.map((name) => (
        <div key={name}>
          <dt>{fieldOf(name).label}</dt>
          <dd>
            {before ? (
              <>
                <del>
                  <FieldValue name={name} product={before} />
                </del>
                <ins>
                  <FieldValue name={name} product={product} />
                </ins>
              </>
            ) : (
              <FieldValue name={name} product={product} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Shows the value of a field. Pictures are shown as thumbnails, which open the picture in a new tab. */
function FieldValue({ name, product }: { name: ProductFieldName; product: Product }) {
  if (name === 'createdAt') return `${utcMinute(product.createdAt)} UTC`;
  if (name !== 'image' && name !== 'screenshots') return <bdi>{textOf(product[name])}</bdi>;
  return (
    <span className="thumbnails">
      {[product[name]].flat().map((src, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same picture may be listed twice
        <a key={index} href={src} target="_blank" rel="noreferrer">
          <Picture src={src} alt={`${fieldOf(name).label} ${index + 1}`} width={120} height={75} />
        </a>
      ))}
    </span>
  );
}

function textOf(value: Product[keyof Product]): string {
  if (!Array.isArray(value)) return String(value);
  return value
    .map((item) => (typeof item === 'string' ? item : [item.name, item.role].filter(Boolean).join(', ')))
    .join('; ');
}

interface ScheduleDialogProps {
  title: string;
  launchAt: string | null;
  onClose: () => void;
  onSubmit: (launchAt: string, progress: Progress) => Promise<unknown>;
}

/** Asks for the launch time in UTC. Only the server rejects a past time, because the browser's clock may be wrong. */
function ScheduleDialog({ launchAt, onSubmit, ...dialog }: ScheduleDialogProps) {
  const [initial] = useState(() => launchAt ?? tomorrowAtNine());
  const [time, setTime] = useState(initial.slice(0, 16));
  // The field shows no seconds, but an unchanged time keeps them.
  const chosen = time === initial.slice(0, 16) ? initial : `${time}:00Z`;
  return (
    <FormDialog {...dialog} label="Approve and schedule" onSubmit={(progress) => onSubmit(chosen, progress)}>
      <label className="field">
        <span>Launches (UTC)</span>
        <input
          type="datetime-local"
          required
          max="9999-12-31T23:59"
          value={time}
          onChange={(event) => setTime(event.target.value)}
        />
      </label>
      <p className="quiet">The approval takes effect now. The product stays hidden until this time.</p>
    </FormDialog>
  );
}

function tomorrowAtNine(): string {
  const day = new Date(Date.now() + 24 * 3_600_000).toISOString().slice(0, 10);
  return `${day}T09:00:00.000Z`;
}
