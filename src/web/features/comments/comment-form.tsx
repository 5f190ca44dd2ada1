import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from 'react';
import { useApi } from '../../lib/api-context.tsx';
import { formatCount } from '../../lib/format-count.ts';
import { judgeDraft, newDraftKey } from './draft.ts';
import { COMMENT_TEXTS } from './messages.ts';
import { addCommentOptions } from './queries.ts';

export function CommentForm({ productId }: { productId: string }) {
  const [text, setText] = useState('');
  const draftKey = useRef<string | null>(null);
  const trap = useRef<HTMLInputElement>(null);
  const hintId = useId();
  const client = useQueryClient();
  const options = addCommentOptions(useApi(), client, productId);
  const { mutate, isPending } = useMutation(options);
  const draft = judgeDraft(text);
  const blocked = !draft.postable || isPending;

  function post(): void {
    // Asked of the client: a second click may come before the first one was rendered.
    if (blocked || client.isMutating({ mutationKey: options.mutationKey }) > 0) return;
    draftKey.current ??= newDraftKey();
    mutate(
      { content: draft.content, website: trap.current?.value ?? '', idempotencyKey: draftKey.current },
      {
        onSuccess: () => {
          draftKey.current = null;
          setText('');
        },
      },
    );
  }

  function change(next: string): void {
    // Another text is another comment, even if the first one's answer was lost.
    if (next.trim() !== draft.content) draftKey.current = null;
    setText(next);
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
        readOnly={isPending}
        placeholder={COMMENT_TEXTS.placeholder}
        aria-label="Your comment"
        aria-describedby={hintId}
        aria-invalid={draft.left < 0}
        onChange={(event) => change(event.currentTarget.value)}
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
        <button type="submit" className="button" data-tone="primary" disabled={blocked}>
          {isPending ? COMMENT_TEXTS.posting : COMMENT_TEXTS.post}
        </button>
      </div>
    </form>
  );
}
