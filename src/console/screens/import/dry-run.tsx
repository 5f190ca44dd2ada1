import { useEffect, useRef } from 'react';
import type { ImportErrorRecord, ImportSummary } from '../../../contract/console/records.ts';
import { fieldOf, PRODUCT_FIELD_NAMES, type ProductFieldName } from '../../../contract/products/fields.ts';
import { formatCount, formatQuantity } from '../../../contract/text.ts';
import { FocusableButton } from '../../ui/focusable-button.tsx';
import type { ColumnChoice } from './columns.tsx';
import type { ChosenFile } from './read-file.ts';
import type { ImportResult } from './run-import.ts';

interface Props {
  /** The rows with errors or, if there are none, the first rows. */
  rows: ChosenFile['rows'];
  choice: ColumnChoice;
  /** The result of the last dry run with these columns, or of an import that failed. */
  result: ImportResult | undefined;
  isBusy: boolean;
  onImport: () => void;
}

/** Shows the first rows or, after a dry run, its result: the changes by product, or the rows with errors. */
export function DryRun({ rows, choice, result, isBusy, onImport }: Props) {
  const title = useRef<HTMLHeadingElement>(null);

  useEffect(() => {
    // The focus is lost if an import fails, because the button that started the import is removed.
    if (result && document.activeElement === document.body) title.current?.focus();
  }, [result]);

  return (
    <section className="card panel" aria-labelledby="dry-run-title">
      <div className="panel-head">
        <h2 ref={title} id="dry-run-title" tabIndex={-1}>
          {result === undefined ? 'The first rows' : 'Dry run'}
        </h2>
        {result?.kind === 'done' && (
          <FocusableButton
            type="button"
            data-tone="primary"
            isDisabled={isBusy || changesOf(result.summary) === 0}
            onClick={onImport}
          >
            Import {formatQuantity(changesOf(result.summary), 'product')}
          </FocusableButton>
        )}
      </div>
      <div role="status">{result && <Outcome result={result} />}</div>
      {result?.kind === 'done' ? (
        <Changes summary={result.summary} />
      ) : (
        <Rows rows={rows} choice={choice} errors={result?.kind === 'errors' ? result.errors : []} />
      )}
    </section>
  );
}

const changesOf = ({ created, updated }: ImportSummary) => created + updated;

function Outcome({ result }: { result: ImportResult }) {
  if (result.kind === 'failed') return <p className="gate-error">{result.message}</p>;
  if (result.kind === 'errors')
    return (
      <p className="gate-error">
        {formatQuantity(result.count, 'error')}
        {result.count > result.errors.length && `, the first ${result.errors.length} of them below`}. Nothing would be
        imported.
      </p>
    );
  const { created, updated, unchanged, duplicates, repeatedIds, localPictures, ignoredColumns } = result.summary;
  return (
    <p>
      <strong>{formatCount(created)}</strong> new, <strong>{formatCount(updated)}</strong> updated,{' '}
      <strong>{formatCount(unchanged)}</strong> unchanged.
      {duplicates > 0 && ` Possible duplicates (same name as another product): ${formatCount(duplicates)}.`}
      {repeatedIds > 0 && ` Ignored rows, because a later row has the same id: ${formatCount(repeatedIds)}.`}
      {localPictures > 0 && (
        <>
          {' '}
          Pictures given as file names are not imported: {formatCount(localPictures)}. To copy them, use{' '}
          <code>groundswell import --images</code> on the server.
        </>
      )}
      {ignoredColumns.length > 0 && ` Ignored columns: ${ignoredColumns.join(', ')}.`}
    </p>
  );
}

/** Lists the changes by product and the ignored rows: the first 100 of each kind. */
function Changes({ summary }: { summary: ImportSummary }) {
  const { firstCreated, firstUpdated, firstRepeated } = summary;
  const more = changesOf(summary) - firstCreated.length - firstUpdated.length;
  return (
    <section
      className="table-scroll"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
      tabIndex={0}
      aria-label="Changes"
    >
      <table>
        <thead>
          <tr>
            <th scope="col">Row</th>
            <th scope="col">Product</th>
            <th scope="col">What happens</th>
          </tr>
        </thead>
        <tbody>
          {firstRepeated.map(({ id, line, item }) => (
            <tr key={`${line}-${item}`}>
              <td>{item ?? line}</td>
              <td>{id}</td>
              <td>Ignored: a later row has the same id</td>
            </tr>
          ))}
          {firstUpdated.map(({ id, line, item, changes }) => (
            <tr key={id}>
              <td>{item ?? line}</td>
              <td>{id}</td>
              <td>
                {changes.map(({ field, before, after }) => (
                  <p key={field}>
                    {fieldOf(field).label}: <del>{shown(before)}</del> <ins>{shown(after)}</ins>
                  </p>
                ))}
              </td>
            </tr>
          ))}
          {firstCreated.map(({ id, name, line, item }) => (
            <tr key={id}>
              <td>{item ?? line}</td>
              <td>
                <bdi>{name}</bdi> <span className="quiet">{id}</span>
              </td>
              <td>New</td>
            </tr>
          ))}
        </tbody>
        {more > 0 && (
          <tfoot>
            <tr>
              <td colSpan={3}>and {formatQuantity(more, 'more product')}</td>
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 200);

/** Shows rows of the file with their errors, below a list of the errors in other rows. */
function Rows({ rows, choice, errors }: Pick<Props, 'rows' | 'choice'> & { errors: readonly ImportErrorRecord[] }) {
  const hasError = (name: ProductFieldName) => errors.some(({ field }) => field === name);
  // Fields with errors come first, because the last columns of a wide table are beyond the edge of a phone's screen.
  const fields = PRODUCT_FIELD_NAMES.filter((field) => choice[field] !== undefined).sort(
    (one, other) => Number(hasError(other)) - Number(hasError(one)),
  );
  const isAt = (error: ImportErrorRecord, row: Props['rows'][number]) =>
    row.item === undefined ? error.line === row.line : error.item === row.item;
  const elsewhere = errors.filter((error) => !rows.some((row) => isAt(error, row)));
  return (
    <>
      {elsewhere.length > 0 && (
        <ul className="findings">
          {elsewhere.map(({ line, item, field, reason }) => (
            <li key={`${line}-${item}-${field}`} data-status="failed">
              <p>
                <strong>{item === undefined ? `Line ${line}` : `Item ${item}`}</strong> {field && `${field}: `}
                {reason}
              </p>
            </li>
          ))}
        </ul>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <section className="table-scroll" tabIndex={0} aria-label="Rows of the file">
        <table>
          <thead>
            <tr>
              <th scope="col">Row</th>
              {fields.map((field) => (
                <th key={field} scope="col">
                  {fieldOf(field).label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const ofRow = errors.filter((error) => isAt(error, row));
              const ofNoColumn = ofRow.filter(({ field }) => !fields.some((each) => each === field));
              return (
                <tr key={row.item ?? row.line} data-invalid={ofRow.length > 0 || undefined}>
                  <th scope="row">
                    {row.item ?? row.line}
                    {ofNoColumn.map(({ field, reason }) => (
                      <small key={field} className="field-error">
                        {field && `${field}: `}
                        {reason}
                      </small>
                    ))}
                  </th>
                  {fields.map((field) => {
                    const error = ofRow.find((each) => each.field === field);
                    return (
                      <td key={field} data-invalid={error !== undefined || undefined}>
                        <span className="cell">{row.values[choice[field] ?? ''] ?? ''}</span>
                        {error && <small className="field-error">{error.reason}</small>}
                      </td>
                    );
                  })}
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
    </>
  );
}
