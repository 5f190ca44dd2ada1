import { useQueryClient } from '@tanstack/react-query';
import { createContext } from 'react';
import { CONSOLE_API } from '../../contract/console/paths.ts';
import type { ProductDetails, UndoResult } from '../../contract/console/records.ts';
import type { ProductFieldName } from '../../contract/products/fields.ts';
import { formatCount, formatQuantity } from '../../contract/text.ts';
import { dismissToast, showToast } from '../../web/ui/toasts.ts';
import { useProvided } from '../../web/ui/use-provided.ts';
import {
  call,
  consoleKeys,
  describeFailure,
  describeUnchanged,
  isOutcomeUnknown,
  isTemporary,
  messageOf,
  sendEach,
} from './console-api.ts';

/** An operation with an optional optimistic update. */
interface Action {
  /** Applies the optimistic update. @returns a function that rolls it back. */
  show?: () => () => void;
  run: () => Promise<Result>;
  /** The subjects whose queries are cancelled before the operation and refetched afterwards. */
  subjects: readonly string[];
  /** Whether an open dialog shows the error. The dialog covers toasts, and screen readers ignore toasts behind it. */
  isInDialog?: boolean;
}

interface Result {
  /** A message, such as 'Hid 2 comments'. */
  done: string;
  /** Details of what was done, or of the items that failed. */
  note?: string | undefined;
  /** The id of the operation's audit log entry, which is used to undo it. */
  auditId?: string | null | undefined;
  /** Undoes an operation that has no `auditId`. Resolves to a note if only some of the items were undone. */
  undo?: (() => Promise<string | undefined>) | undefined;
  /** The subject of the progress toasts. The toasts about the results of the operation and of its undo replace them. */
  subject?: string;
}

type Message = Omit<Parameters<typeof showToast>[0], 'action'>;

/**
 * Undoes the change that an entry in the audit log records.
 * @returns a note if the change was undone only partly. @throws ConsoleError if the request fails.
 */
export async function undoEntry(id: string): Promise<string | undefined> {
  const { note } = await call<UndoResult>(CONSOLE_API.undo(id), { method: 'POST' });
  return note ?? undefined;
}

/**
 * Undoes each change by its entry in the audit log, so later decisions by other operators stay in effect. Toasts about
 * `subject` show the progress. `noun` names one of the changed items, such as 'comment'.
 * @returns a note if some could not be undone. @throws ConsoleError if none could.
 */
export async function undoEach(
  auditIds: readonly string[],
  noun: string,
  subject: string,
): Promise<string | undefined> {
  const describe = (ids: readonly string[]) => formatQuantity(ids.length, noun);
  const undo = async (id: string) => {
    await undoEntry(id);
    return id;
  };
  const onProgress = progressReporter('Undoing', auditIds, (title) => showToast({ title, description: '', subject }));
  const sent = await sendEach(auditIds, undo, onProgress);
  const unchanged = describeUnchanged(sent, describe);
  return unchanged === '' ? undefined : `Undone for ${describe(sent.results)}. ${unchanged}`;
}

/** The minimum time between messages about progress, because screen readers announce each of them. */
const PROGRESS_MS = 1_000;

/** Returns a function for `sendEach` that shows the progress, such as 'Undoing 2 of 3 …'. */
export function progressReporter(ongoing: string, items: readonly unknown[], show: (text: string) => void) {
  let shownAt = performance.now();
  return (item: number) => {
    if (performance.now() - shownAt < PROGRESS_MS) return;
    shownAt = performance.now();
    show(`${ongoing} ${formatCount(item)} of ${formatCount(items.length)} …`);
  };
}

/** An unsaved edit of a product. */
export interface Edit {
  /** The version of the product that the edit is based on. */
  base: ProductDetails;
  /** The text of each field, in the format of `draftOf`. */
  draft: Record<Exclude<ProductFieldName, 'id'>, string>;
}

/** The mutable state of an operator that outlives screens and sessions: undo, unsaved edits and an unsent reason. */
export interface Undoable {
  /** Undoes the last operation. Undefined if there is none, or if it cannot be undone. */
  last?: (() => void) | undefined;
  /**
   * The last operation while it runs. Until it ends, the key U undoes nothing, because it would undo an earlier
   * operation.
   */
  running?: object | undefined;
  /** The number of operations that have been started. */
  started: number;
  /**
   * The unsaved edits by product. The editor resumes them, for example after the operator has signed in again.
   */
  unsavedEdits: Map<string, Edit>;
  /**
   * The reason from a dialog that was unmounted without being closed, for example because the session ended. The next
   * dialog for `operation` starts with this reason.
   */
  unsentReason?: { operation: string; text: string } | undefined;
}

const UndoContext = createContext<Undoable | null>(null);
export const UndoProvider = UndoContext.Provider;

export function useUndoable(): Undoable {
  return useProvided(UndoContext);
}

/** Returns a function that undoes the last operation, as the key U does, or says why nothing can be undone. */
export function useUndoLast(): () => void {
  const undoable = useUndoable();
  return () => {
    if (undoable.running)
      showToast({ title: 'The last change is not done yet', description: 'Undo it when it is done.' });
    else if (undoable.last) undoable.last();
    else showToast({ title: 'Nothing to undo', description: 'Earlier changes can be undone in the audit log.' });
  };
}

/** Runs an operation, and marks it as running until it ends. */
export async function asRunning<Result>(undoable: Undoable, run: () => Promise<Result>): Promise<Result> {
  const running = {};
  undoable.running = running;
  undoable.started += 1;
  try {
    return await run();
  } finally {
    if (undoable.running === running) undoable.running = undefined;
  }
}

/**
 * Returns a function that applies the optimistic update of an operation, runs the operation and offers undo. If the
 * operation fails, the function rolls the update back. It resolves to whether the operation succeeded; after a failure
 * with `isInDialog`, it rejects with the error instead.
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

  return (action) => asRunning(undoable, () => perform(action));

  async function perform({ show, run, subjects, isInDialog = false }: Action): Promise<boolean> {
    await Promise.all(subjects.map((subject) => client.cancelQueries({ queryKey: consoleKeys.subject(subject) })));
    const rollBack = show?.();
    try {
      const { done, note = '', auditId, undo, subject } = await run();
      const undoOnServer = auditId ? () => undoEntry(auditId) : undo;
      const message = { title: done, description: note, ...(subject && { subject }) };
      undoable.last = undefined;
      if (undoOnServer) offerUndo(message, undoOnServer);
      else showToast(message);
      return true;
    } catch (error) {
      rollBack?.();
      // This change may have taken effect, so the next undo must not revert an earlier change instead.
      if (isOutcomeUnknown(error)) undoable.last = undefined;
      if (isInDialog) throw error;
      showToast({ ...describeFailure(error), tone: 'destructive' });
      return false;
    } finally {
      void refresh(subjects);
    }

    /** Shows a message with Undo. With `isLast`, the key U does the same, unless it undoes a later operation. */
    function offerUndo(message: Message, undoOnServer: () => Promise<string | undefined>, isLast = true): void {
      const onUndo = () => {
        // If a later operation has replaced `last`, that operation can still be undone.
        if (undoable.last === onUndo) undoable.last = undefined;
        // After the key U, the button of the message would undo the operation a second time.
        dismissToast(toast);
        void revert(message, undoOnServer);
      };
      if (isLast) undoable.last ??= onUndo;
      const toast = showToast({ ...message, action: { label: 'Undo', onPress: onUndo } });
    }

    async function revert(done: Message, undoOnServer: () => Promise<string | undefined>): Promise<void> {
      const { started } = undoable;
      rollBack?.();
      try {
        const note = await undoOnServer();
        const title = note === undefined ? 'Undone' : 'Partly undone';
        showToast({ ...done, title, description: note ?? '', tone: 'neutral' });
      } catch (error) {
        // If the outcome is unknown, the operation may have been undone.
        const failure = isOutcomeUnknown(error)
          ? describeFailure(error)
          : { title: 'This could not be undone', description: messageOf(error) };
        const message = { ...done, ...failure, tone: 'destructive' } as const;
        // An operation that started since may have taken effect, so U must not revert this earlier one.
        if (isTemporary(error)) offerUndo(message, undoOnServer, undoable.started === started);
        else showToast(message);
      } finally {
        void refresh(subjects);
      }
    }
  }
}
