import { useQueryClient } from '@tanstack/react-query';
import { showToast } from '../../web/ui/toasts.ts';
import { messageOf } from './console-api.ts';

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

let lastUndo: (() => void) | undefined;

/** Undoes the last operation that can be undone, as the key U does. */
export function undoLast(): void {
  if (lastUndo) lastUndo();
  else showToast({ title: 'Nothing to undo', description: 'Earlier changes can be undone in the audit log.' });
}

/**
 * @returns a function that runs operations: their results show at once, are rolled back on failure, and can be undone.
 */
export function usePerform(): (action: Action) => Promise<boolean> {
  const client = useQueryClient();
  const refresh = (subjects: readonly string[]) =>
    Promise.all(
      ['audit', 'overview', 'waiting', ...subjects].map((subject) => client.invalidateQueries({ queryKey: [subject] })),
    );

  return async ({ show, run, undo, subjects }) => {
    await Promise.all(subjects.map((subject) => client.cancelQueries({ queryKey: [subject] })));
    const takeBack = show?.();
    try {
      const { done, note = '' } = await run();
      const press = undo && (() => void revert(undo));
      lastUndo = press;
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
      lastUndo = undefined;
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
