import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { CONSOLE_API } from '../../contract/console/paths.ts';
import type { AuditRecord, ConsolePage } from '../../contract/console/records.ts';
import { showToast } from '../../web/ui/toasts.ts';
import type { Edit } from '../screens/products/product-draft.ts';
import { call, consoleKeys, messageOf } from './console-api.ts';

/** An operation that shows its result at once and can be undone. */
export interface Action {
  /** Shows the result before the server confirms it. @returns a function that reverts what is shown. */
  show?: () => () => void;
  /** @returns a description of the result, such as 'Hid 2 comments', and of the items that failed. */
  run: () => Promise<{ done: string; note?: string | undefined }>;
  undo?: (() => Promise<unknown>) | undefined;
  /** The lists to refetch afterwards. */
  subjects: readonly string[];
}

/** What can be undone. The console's entry creates it. */
interface Undoable {
  /** Undoes the last operation; undefined if it cannot be undone. */
  last?: (() => void) | undefined;
  /** The edit of a product that was discarded last, once its discarding was undone. */
  abandonedEdit?: Edit | undefined;
}

const UndoContext = createContext<Undoable | undefined>(undefined);
export const UndoProvider = UndoContext.Provider;

export function useUndoable(): Undoable {
  const undoable = useContext(UndoContext);
  if (!undoable) throw new Error('useUndoable needs an UndoProvider above it');
  return undoable;
}

/** @returns a function that undoes the last operation that can be undone, as the key U does. */
export function useUndoLast(): () => void {
  const undoable = useUndoable();
  return () => {
    if (undoable.last) undoable.last();
    else showToast({ title: 'Nothing to undo', description: 'Earlier changes can be undone in the audit log.' });
  };
}

/**
 * @returns a function that runs operations: their results show at once, are rolled back on failure, and can be undone.
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
    const takeBack = show?.();
    try {
      const { done, note = '' } = await run();
      const press = undo && (() => void revert(undo));
      undoable.last = press;
      showToast({ title: done, description: note, ...(press && { action: { label: 'Undo', onPress: press } }) });
      return true;
    } catch (error) {
      takeBack?.();
      showToast({ title: 'The change failed', description: messageOf(error), tone: 'destructive' });
      return false;
    } finally {
      void refresh(subjects);
    }

    async function revert(back: () => Promise<unknown>): Promise<void> {
      undoable.last = undefined;
      takeBack?.();
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
 * Undoes the newest of the last 20 entries of the audit log with this action and target that can be undone.
 * @throws Error if there is none.
 */
export async function undoNewest(action: string, target: string): Promise<void> {
  const { items } = await call<ConsolePage<AuditRecord>>(CONSOLE_API.audit, { query: { action, target, limit: 20 } });
  const entry = items.find(({ undoable }) => undoable);
  if (!entry) throw new Error('The change is no longer in the audit log, or was already undone.');
  await call(CONSOLE_API.undo(entry.id), { method: 'POST' });
}
