import { useQueryClient } from '@tanstack/react-query';
import {
  type FormEvent,
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useId,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { useApi } from '../../api/api-context.tsx';
import { commentKeys } from '../../cache/cached-data.ts';
import { plural, t } from '../../language/translate.ts';
import { useBrowserStore } from '../../storage/browser-store.ts';
import { showLoadFailure } from '../../ui/toasts.ts';
import { adoptText, draftOn, drafts, MAX_DRAFT_CHARACTERS, saveDraft, validateDraft } from './drafts.ts';

/** Loads the code that posts and likes comments. Hydration does not need it, so it loads afterwards. */
export const loadWrites = () => import('./write-comments.ts');

/** The comment form. The browser stores the draft until it is posted, and shares it between tabs. */
export function CommentForm({ productId }: { productId: string }) {
  const saved = useBrowserStore(drafts, (all) => draftOn(all, productId));
  const text = saved?.text ?? '';
  const button = useRef<HTMLButtonElement>(null);
  const trap = useRef<HTMLInputElement>(null);
  const hintId = useId();
  const client = useQueryClient();
  const api = useApi();
  const [isLoading, setLoading] = useState(false);
  const isPending = useIsPosting(productId) || isLoading;
  const draft = validateDraft(text);
  const blocked = !draft.postable || isPending;
  useFocusAfterPosting(button, isPending);
  useEffect(() => void loadWrites().catch(() => {}), []);

  async function post(): Promise<void> {
    if (!saved || blocked) return;
    const { content } = draft;
    const { idempotencyKey } = saved;
    setLoading(true);
    const writes = await loadWrites().catch(showLoadFailure);
    void writes?.postComment(api, client, productId, { content, website: trap.current?.value ?? '', idempotencyKey });
    setLoading(false);
  }

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    void post();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void post();
  }

  return (
    <form className="comment-form" onSubmit={onSubmit}>
      <textarea
        // During hydration, `text` is empty, but the visitor may already have typed into the box.
        ref={(box) => {
          if (!text && box?.value) adoptText(productId, box.value);
        }}
        dir="auto"
        value={text}
        rows={3}
        maxLength={MAX_DRAFT_CHARACTERS}
        readOnly={isPending}
        placeholder={t('What do you think about this product?')}
        aria-label={t('Your comment')}
        aria-describedby={hintId}
        aria-invalid={draft.left < 0}
        onChange={(event) => saveDraft(productId, event.currentTarget.value)}
        onKeyDown={onKeyDown}
        autoComplete="off"
      />
      {/* A honeypot: people cannot see or reach this field, but bots fill in every field. */}
      <input
        ref={trap}
        className="visually-hidden"
        type="text"
        name="website"
        tabIndex={-1}
        autoComplete="off"
        aria-hidden="true"
      />
      <div className="comment-form-foot">
        <p id={hintId} className="comment-form-hint">
          {t('Be constructive and specific in your feedback')}
        </p>
        {/* Always rendered, because screen readers announce only changes to an existing element. */}
        <p className="comment-form-left" data-over={draft.left < 0} role="status" aria-busy={draft.left % 20 > 0}>
          {draft.showLeft &&
            (draft.left < 0
              ? plural('{count} character too many', '{count} characters too many', -draft.left)
              : plural('{count} character left', '{count} characters left', draft.left))}
        </p>
        <button ref={button} type="submit" className="button" data-tone="primary" disabled={blocked}>
          {t(isPending ? 'Posting...' : 'Post Comment')}
        </button>
      </div>
    </form>
  );
}

/** Returns whether a comment on the product is being posted, even after the visitor has left its page and returned. */
function useIsPosting(productId: string): boolean {
  const client = useQueryClient();
  return useSyncExternalStore(
    (listener) => client.getMutationCache().subscribe(listener),
    () => client.isMutating({ mutationKey: commentKeys.addMutation(productId) }) > 0,
    () => false,
  );
}

/**
 * Restores the focus, which a button loses while it is disabled during a request. After a failure, the focus returns to
 * the button. After a success, it moves to the title of the discussion.
 */
function useFocusAfterPosting(button: RefObject<HTMLButtonElement | null>, isPending: boolean): void {
  const hadFocus = useRef(false);
  useEffect(() => {
    // Some browsers leave the focus on a disabled button.
    const isHere = [button.current, document.body].includes(document.activeElement as HTMLElement);
    if (!isPending && isHere && hadFocus.current) {
      const target = button.current?.disabled ? document.getElementById('comments-title') : button.current;
      target?.focus({ preventScroll: true });
    }
    hadFocus.current = isPending && isHere;
  }, [button, isPending]);
}
