import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type KeyboardEvent, type RefObject, useEffect, useId, useRef } from 'react';
import { useApi } from '../../lib/api-context.tsx';
import { useBrowserStore } from '../../lib/browser-store.ts';
import { formatCount } from '../../lib/format-count.ts';
import { judgeDraft } from './draft.ts';
import { draftOn, drafts, keepDraft, MOST_DRAFT_CHARACTERS } from './drafts.ts';
import { COMMENT_TEXTS } from './messages.ts';
import { addCommentOptions } from './queries.ts';

/** What is written is kept by the browser until it is posted, in all its tabs. */
export function CommentForm({ productId }: { productId: string }) {
  const kept = useBrowserStore(drafts, (all) => draftOn(all, productId));
  const text = kept?.text ?? '';
  const button = useRef<HTMLButtonElement>(null);
  const trap = useRef<HTMLInputElement>(null);
  const hintId = useId();
  const client = useQueryClient();
  const options = addCommentOptions(useApi(), client, productId);
  const { mutate, isPending } = useMutation(options);
  const draft = judgeDraft(text);
  const blocked = !draft.postable || isPending;
  useFocusAfterPosting(button, isPending);

  function post(): void {
    // Asked of the client: a second click may come before the first one was rendered.
    if (!kept || blocked || client.isMutating({ mutationKey: options.mutationKey }) > 0) return;
    mutate({ content: draft.content, website: trap.current?.value ?? '', idempotencyKey: kept.idempotencyKey });
  }

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    post();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) post();
  }

  return (
    <form className="comment-form" onSubmit={onSubmit}>
      <textarea
        value={text}
        rows={3}
        maxLength={MOST_DRAFT_CHARACTERS}
        readOnly={isPending}
        placeholder={COMMENT_TEXTS.placeholder}
        aria-label="Your comment"
        aria-describedby={hintId}
        aria-invalid={draft.left < 0}
        onChange={(event) => keepDraft(productId, event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {/* Nobody sees it or gets to it by keyboard; a program that fills in whatever it finds gives itself away. */}
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
          {COMMENT_TEXTS.hint}
        </p>
        {draft.showLeft && (
          <p className="comment-form-left" data-over={draft.left < 0} role="status">
            {draft.left < 0 ? `${formatCount(-draft.left)} characters too many` : `${draft.left} characters left`}
          </p>
        )}
        <button ref={button} type="submit" className="button" data-tone="primary" disabled={blocked}>
          {isPending ? COMMENT_TEXTS.posting : COMMENT_TEXTS.post}
        </button>
      </div>
    </form>
  );
}

/**
 * The button is disabled while it posts, and loses the focus by that. It gets it back to try again; after a success, when there is
 * nothing to post, the discussion's title has it.
 */
function useFocusAfterPosting(button: RefObject<HTMLButtonElement | null>, isPending: boolean): void {
  const hadFocus = useRef(false);
  useEffect(() => {
    // Not every browser takes the focus from what is disabled.
    const isHere = document.activeElement === button.current || document.activeElement === document.body;
    if (!isPending && isHere && hadFocus.current) {
      const target = button.current?.disabled ? document.getElementById('comments-title') : button.current;
      target?.focus({ preventScroll: true });
    }
    hadFocus.current = isPending && isHere;
  }, [button, isPending]);
}
