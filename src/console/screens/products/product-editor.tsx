import { useIsMutating, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { EditedProduct, ProductDetails } from '../../../contract/console/records.ts';
import * as paths from '../../../contract/paths.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { formatQuantity } from '../../../contract/text.ts';
import { CloseIcon } from '../../../web/ui/icons.tsx';
import { useModalDialog } from '../../../web/ui/modal.tsx';
import { asRunning, type Edit, usePerform, useUndoable } from '../../api/actions.ts';
import { ConsoleError, call, consoleKeys, describeFailure, isOutcomeUnknown } from '../../api/console-api.ts';
import { consoleLocation, goTo, openDialog } from '../../location.ts';
import { FocusableButton } from '../../ui/focusable-button.tsx';
import { useDialogError } from '../../ui/form-dialog.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { Conflict } from './conflict.tsx';
import { changesOf, draftOf, membersOf, previewOf, teamText, withChanges, withPicture } from './product-draft.ts';
import { ProductFieldsForm, UPLOADS_KEY } from './product-fields-form.tsx';
import { ProductPreview } from './product-preview.tsx';

/** The mutation key of the running saves of a product. */
const savesOf = (id: string) => ['product saves', id];

/**
 * A dialog with a form for all fields of a product and a preview. Closing the dialog, even with the Back button,
 * discards unsaved changes. Undo reopens the dialog with these changes.
 */
export function ProductEditor({ id, onClose }: { id: string; onClose: () => void }) {
  const perform = usePerform();
  const undoable = useUndoable();
  const { dialog } = useModalDialog();
  const heading = useRef<HTMLHeadingElement>(null);
  const [isSaving, setSaving] = useState(false);
  const stored = useRef<Edit>(undefined);
  const leaveNow = useEffectEvent(leave);
  const details = useQuery({
    queryKey: consoleKeys.product(id),
    queryFn: ({ signal }) => call<ProductDetails>(CONSOLE_API.product(id), { signal }),
  });

  // An earlier editor may have been closed during a save. This editor waits, and resumes the edit if the save fails.
  const saves = useIsMutating({ mutationKey: savesOf(id) });
  const [isWaiting, setWaiting] = useState(saves > 0);
  if (isWaiting && saves === 0) setWaiting(false);

  useEffect(() => heading.current?.focus(), []);

  useLayoutEffect(
    () => () => {
      // If the session has ended, the location is unchanged, and the edit stays stored until the next sign-in.
      if (consoleLocation().query.get('edit') !== id) leaveNow();
    },
    [id],
  );

  function leave(): void {
    // Closing the dialog returns the focus, which would be lost if the dialog were unmounted while it is open.
    dialog.current?.close();
    const edit = stored.current;
    // During a save, the edit stays in `unsavedEdits`, so the next editor can resume it if the save fails.
    if (edit === undefined || isSaving || undoable.unsavedEdits.get(id) !== edit) return;
    undoable.unsavedEdits.delete(id);
    offerUndo(edit);
  }

  /** Shows a toast with an undo button for a discarded edit. Undo reopens the editor with the edit. */
  function offerUndo(edit: Edit): void {
    void perform({
      subjects: [],
      run: async () => ({
        done: 'The changes were not saved',
        note: edit.base.product.name,
        async undo() {
          undoable.unsavedEdits.set(id, edit);
          if (consoleLocation().screen === 'products') openDialog({ edit: id });
          else goTo('products', { edit: id });
        },
      }),
    });
  }

  return (
    <dialog ref={dialog} className="sheet" aria-label={`Edit ${details.data?.product.name ?? id}`} onClose={onClose}>
      <div className="sheet-head">
        <div className="sheet-title">
          <h2 ref={heading} tabIndex={-1} dir="auto">
            {details.data?.product.name ?? id}
          </h2>
          {details.data && Date.parse(details.data.product.createdAt) <= Date.now() && (
            <a href={paths.product(id)} target="_blank" rel="noreferrer">
              View on the site
            </a>
          )}
        </div>
        <button type="button" className="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
          <CloseIcon />
        </button>
      </div>
      {details.isPending || isWaiting ? (
        <Loading label="Loading the product" />
      ) : !details.data ? (
        <Failure error={details.error} onRetry={() => void details.refetch()} />
      ) : (
        <Editing
          details={details.data}
          stored={stored}
          isSaving={isSaving}
          onSaving={setSaving}
          onDiscard={offerUndo}
          onSaved={() => dialog.current?.close()}
        />
      )}
    </dialog>
  );
}

interface EditingProps {
  details: ProductDetails;
  /** The last edit that this editor stored in `unsavedEdits`. Any other edit there belongs to another editor. */
  stored: RefObject<Edit | undefined>;
  isSaving: boolean;
  onSaving: (isSaving: boolean) => void;
  onDiscard: (edit: Edit) => void;
  onSaved: () => void;
}

function Editing({ details, stored, isSaving, onSaving, onDiscard, onSaved }: EditingProps) {
  const client = useQueryClient();
  const perform = usePerform();
  const undoable = useUndoable();
  const [resumed] = useState(() => undoable.unsavedEdits.get(details.product.id));
  // The version that the edit is based on. A later version replaces it if there are no unsaved changes, or if the later
  // version already contains them. Otherwise, only `resolve` replaces it.
  const [base, setBase] = useState(resumed?.base ?? details);
  const [draft, setDraft] = useState(() => resumed?.draft ?? draftOf(details.product));
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const [theirs, setTheirs] = useState<Product>();
  const [isResolving, setResolving] = useState(false);
  const { mutateAsync: runSave } = useMutation({
    mutationKey: savesOf(details.product.id),
    mutationFn: (run: () => Promise<void>) => run(),
  });
  const isSaved = useRef(false);
  const saveButton = useRef<HTMLButtonElement>(null);
  const failure = useDialogError(saveButton);
  const changes = changesOf(draftOf(base.product), draft);
  const isChanged = Object.keys(changes).length > 0;
  const { product } = base;
  const isStale = details.version !== base.version;
  // Whether the latest version has the values of the draft, for example because the response to the save was lost.
  const hasDraftValues = Object.keys(changesOf(draftOf(details.product), draft)).length === 0;
  const isBusy = isSaving || isResolving;
  // During a save, a new version is not shown as a conflict, because the save itself creates a new version.
  const current = theirs ?? (isStale && isChanged && !isSaving ? details.product : undefined);
  const isUploading = useIsMutating({ mutationKey: UPLOADS_KEY }) > 0;
  if (isStale && (!isChanged || hasDraftValues) && !isBusy && !isUploading) {
    setBase(details);
    setDraft(draftOf(details.product));
    setTheirs(undefined);
  }
  const canSave = isChanged && !isBusy && !isUploading && current === undefined;

  // A layout effect never runs after the editor has closed, but a normal effect may. There is no cleanup, so the edit
  // remains stored when the session ends.
  useLayoutEffect(() => {
    const { unsavedEdits } = undoable;
    if (isChanged && !isSaved.current) {
      stored.current = { base, draft };
      unsavedEdits.set(product.id, stored.current);
    } else if (unsavedEdits.get(product.id) === stored.current) unsavedEdits.delete(product.id);
  });

  // After a failed save, the focus moves from the button to the first invalid field. The render that marks the fields
  // as invalid also makes them focusable again.
  useEffect(() => {
    const hasErrors = Object.keys(errors).length > 0;
    if (hasErrors) saveButton.current?.form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [errors]);

  /**
   * Moves the focus to the save button before the fields become inert. They are inert during a request, because input
   * would be overwritten or dropped.
   */
  function begin(): void {
    saveButton.current?.focus({ preventScroll: true });
    failure.clear();
  }

  async function save(): Promise<void> {
    if (!canSave) return;
    begin();
    onSaving(true);
    setErrors({});
    try {
      const { auditId, ...saved } = await call<EditedProduct>(CONSOLE_API.product(product.id), {
        method: 'PATCH',
        body: { version: base.version, values: changes },
      });
      isSaved.current = true;
      if (undoable.unsavedEdits.get(product.id) === stored.current) undoable.unsavedEdits.delete(product.id);
      client.setQueryData(consoleKeys.product(product.id), { ...details, ...saved });
      await perform({
        subjects: ['products', 'product', 'categories'],
        run: async () => ({ done: `Saved ${saved.product.name}`, auditId }),
      });
      onSaved();
    } catch (error) {
      if (failure.isOpen()) onSaving(false);
      if (!(error instanceof ConsoleError)) throw error;
      // The edit may have been saved, so the next undo must not revert an earlier change instead.
      if (isOutcomeUnknown(error)) undoable.last = undefined;
      if (failure.isOpen() && error.code === 'product_changed') setTheirs(error.current as Product);
      else if (failure.isOpen() && error.fields.length > 0)
        setErrors(Object.fromEntries(error.fields.map(({ field, detail }) => [field, detail])));
      else {
        const { title, description } = describeFailure(error);
        failure.show(title, description);
      }
    }
  }

  /** Resolves a conflict: continues from the latest version, with or without this operator's changes. */
  async function resolve(keepMine: boolean): Promise<void> {
    if (isBusy) return;
    begin();
    setResolving(true);
    try {
      const latest = await call<ProductDetails>(CONSOLE_API.product(product.id));
      // Closing the editor has already discarded the edit and offered to undo that, so nothing remains to be resolved.
      if (!failure.isOpen()) return;
      client.setQueryData(consoleKeys.product(product.id), latest);
      const next = draftOf(latest.product);
      if (keepMine && current && Object.keys(changesOf(draftOf(current), next)).length > 0) {
        // Otherwise, the next save would overwrite changes that this operator has not seen.
        setTheirs(latest.product);
        failure.show('The product has changed again', 'Compare the versions.');
        return;
      }
      if (!keepMine && stored.current) onDiscard(stored.current);
      setBase(latest);
      setDraft(keepMine ? withChanges(next, draftOf(product), draft) : next);
      setTheirs(undefined);
    } catch (error) {
      failure.show('The saved version could not be loaded', error);
    } finally {
      setResolving(false);
    }
  }

  return (
    <form
      className="sheet-body"
      noValidate
      action={() => void runSave(() => asRunning(undoable, save))}
      onReset={(event) => event.preventDefault()}
    >
      <div className="editor" inert={isBusy}>
        <ProductFieldsForm
          draft={draft}
          errors={errors}
          onChange={(change) => setDraft((latest) => ({ ...latest, ...change }))}
          onPicture={(name, address) => setDraft((latest) => withPicture(latest, name, address))}
          onTeam={(change) => setDraft((latest) => ({ ...latest, team: teamText(change(membersOf(latest))) }))}
        />
        <aside className="editor-side" aria-label="Preview">
          <ProductPreview product={previewOf(product, draft)} />
          <p className="quiet">
            {formatQuantity(product.upvotes, 'upvote')}, {formatQuantity(product.comments, 'public comment')},{' '}
            {details.heldComments} held, {details.hiddenComments} hidden.
          </p>
        </aside>
      </div>
      {current && (
        <Conflict
          mine={draft}
          before={draftOf(product)}
          theirs={draftOf(current)}
          isUploading={isUploading}
          onResolve={(keep) => void resolve(keep)}
        />
      )}
      {failure.element}
      <div className="sheet-foot">
        <span className="quiet" role="status">
          {isChanged ? `${formatQuantity(Object.keys(changes).length, 'field')} changed` : 'No changes'}
        </span>
        <FocusableButton ref={saveButton} type="submit" data-tone="primary" isDisabled={!canSave}>
          {isSaving ? 'Saving …' : 'Save'}
        </FocusableButton>
      </div>
    </form>
  );
}
