import { fieldOf } from '../../../contract/products/fields.ts';
import { FocusableButton } from '../../ui/focusable-button.tsx';
import { DRAFT_FIELDS, type Draft, shownText } from './product-draft.ts';

interface Props {
  before: Draft;
  mine: Draft;
  theirs: Draft;
  /** Whether pictures are being uploaded, for example for a team member that `onResolve` may replace. */
  isUploading: boolean;
  onResolve: (keepMine: boolean) => void;
}

/**
 * Shows an operator's edit of a product next to a version that was saved after the edit began. The operator takes the
 * saved version, or applies their own changes on top of it.
 */
export function Conflict({ before, mine, theirs, isUploading, onResolve }: Props) {
  const fields = DRAFT_FIELDS.filter((name) => theirs[name] !== before[name] || mine[name] !== before[name]);
  return (
    <section className="conflict" role="alert" aria-label="Edit conflict">
      <h3>This product has changed since you opened it</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <section className="table-scroll" tabIndex={0} aria-label="Both versions">
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Yours</th>
              <th scope="col">Saved</th>
            </tr>
          </thead>
          <tbody>
            {fields.map((name) => (
              <tr
                key={name}
                data-clash={mine[name] !== before[name] && theirs[name] !== before[name] && mine[name] !== theirs[name]}
              >
                <th scope="row">{fieldOf(name).label}</th>
                <td dir="auto">{shownText(name, mine[name])}</td>
                <td dir="auto">{shownText(name, theirs[name])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div className="form-actions">
        <FocusableButton type="button" data-tone="outline" isDisabled={isUploading} onClick={() => onResolve(false)}>
          Take the saved version
        </FocusableButton>
        <FocusableButton type="button" data-tone="outline" isDisabled={isUploading} onClick={() => onResolve(true)}>
          Keep my changes on top
        </FocusableButton>
      </div>
    </section>
  );
}
