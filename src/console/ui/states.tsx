import type { MouseEvent, ReactNode } from 'react';
import { Notice } from '../../web/ui/notice.tsx';
import { messageOf } from '../api/console-api.ts';

/** Shown instead of an empty list. Says what the list will contain, or what the operator can do. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Notice>
      <p className="notice-title">{title}</p>
      {children}
    </Notice>
  );
}

/** Shown if data could not be loaded. Offers to retry. */
export function Failure({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  function retry({ currentTarget }: MouseEvent): void {
    // The pressed button disappears, so the focus moves to the heading of the open dialog or, without one, to the main
    // content.
    const target = currentTarget.closest('dialog')?.querySelector('h2') ?? document.getElementById('main');
    target?.focus({ preventScroll: true });
    onRetry();
  }

  return (
    <div className="notice" data-tone="failure" role="alert">
      <div className="notice-window" />
      <p className="notice-title">Loading failed</p>
      <p>{messageOf(error)}</p>
      <div className="notice-actions">
        <button type="button" className="button" data-tone="primary" onClick={retry}>
          Try again
        </button>
      </div>
    </div>
  );
}

/** Shown below a list of which some rows could not be loaded. Offers to retry. */
export function RowsFailure({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <div className="list-failure" role="alert">
      <p>
        <strong>Some rows could not be loaded.</strong> {messageOf(error)}
      </p>
      <button type="button" className="button" data-tone="primary" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}

/** Renders the commands in a server message, which are in backticks, as code. */
export function withCode(message: string): ReactNode[] {
  return message.split('`').map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part));
}

/** Placeholder rows while data loads. */
export function Loading({ label, rows = 6 }: { label: string; rows?: number }) {
  return (
    <div className="loading" role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike and never change
        <span key={index} className="skeleton skeleton-row" />
      ))}
    </div>
  );
}
