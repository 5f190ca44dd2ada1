import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { CONSOLE_API } from '../../contract/console/paths.ts';
import type { AuditRecord, ConsolePage, ProductDetails } from '../../contract/console/records.ts';
import type { ProductFieldName } from '../../contract/products/fields.ts';
import { showToast } from '../../web/ui/toasts.ts';
import { call, consoleKeys, messageOf } from './console-api.ts';

/** An operation with an optional optimistic update and an optional undo. */
interface Action {
  /** Applies the optimistic update. @returns a function that rolls it back. */
  show?: () => () => void;
  /** Runs the operation. @returns a message, such as 'Hid 2 comments', and a note about items that failed. */
  run: () => Promise<{ done: string; note?: string | undefined }>;
  undo?: (() => Promise<unknown>) | undefined;
  /** The subjects whose queries are refetched afterwards. */
  subjects: readonly string[];
}

/** An unsaved edit of a product. */
export interface Edit {
  /** The version of the product that the edit is based on. */
  base: ProductDetails;
  /** The text of each input of the form. */
  draft: Record<Exclude<ProductFieldName, 'id'>, string>;
}

/** The mutable undo state of the console, provided by a context. */
interface Undoable {
  /** Undoes the last operation. Undefined if there is none, or if it cannot be undone. */
  last?: (() => void) | undefined;
  /** A discarded edit of a product, set when the operator undoes the discard. The editor then resumes the edit. */
  discardedEdit?: Edit | undefined;
}

const UndoContext = createContext<Undoable | undefined>(undefined);
export const UndoProvider = UndoContext.Provider;

export function useUndoable(): Undoable {
  const undoable = useContext(UndoContext);
  if (!undoable) throw new Error('useUndoable must be used within an UndoProvider');
  return undoable;
}

/** @returns a function that undoes the last operation, as the key U does, or shows that there is nothing to undo. */
export function useUndoLast(): () => void {
  const undoable = useUndoable();
  return () => {
    if (undoable.last) undoable.last();
    else showToast({ title: 'Nothing to undo', description: 'Earlier changes can be undone in the audit log.' });
  };
}

/**
 * @returns a function that applies the optimistic update of an operation, runs the operation and offers undo. If the
 * operation fails, the function rolls the update back. It resolves to whether the operation succeeded.
 */
export function usePerform(): (action: Action) => Promise<boolean> {
  const client = useQueryClient();
  const undoable = useUndoable();
  const refresh = (subjects: readonly string[]) =>
    Promise.all(
      ['audit', 'overview', 'waiting', ...subjects].map((subject) =>
        client.invalidateQueries({ queryKey: consoleKeys.subject(subject) }),
      ),
    );

  return async ({ show, run, undo, subjects }) => {
    await Promise.all(subjects.map((subject) => client.cancelQueries({ queryKey: consoleKeys.subject(subject) })));
    const rollBack = show?.();
    try {
      const { done, note = '' } = await run();
      const press = undo && (() => void revert(undo));
      undoable.last = press;
      showToast({ title: done, description: note, ...(press && { action: { label: 'Undo', onPress: press } }) });
      return true;
    } catch (error) {
      rollBack?.();
      showToast({ title: 'The change failed', description: messageOf(error), tone: 'destructive' });
      return false;
    } finally {
      void refresh(subjects);
    }

    async function revert(back: () => Promise<unknown>): Promise<void> {
      undoable.last = undefined;
      rollBack?.();
      try {
        await back();
        showToast({ title: 'Undone', description: '' });
      } catch (error) {
        showToast({ title: 'This could not be undone', description: messageOf(error), tone: 'destructive' });
      } finally {
        void refresh(subjects);
      }
    }
  };
}

/**
 * Undoes the newest undoable entry of the audit log with this action and target, among the last 20 entries.
 * @throws Error if there is no such entry.
 */
export async function undoNewest(action: string, target: string): Promise<void> {
  const { items } = await call<ConsolePage<AuditRecord>>(CONSOLE_API.audit, { query: { action, target, limit: 20 } });
  const entry = items.find(({ undoable }) => undoable);
  if (!entry) throw new Error('The change was already undone, or cannot be undone any more.');
  await call(CONSOLE_API.undo(entry.id), { method: 'POST' });
}
