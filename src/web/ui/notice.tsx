import type { ReactNode } from 'react';

/** A calm full-width message in place of content: nothing found, nothing there, nothing loaded. */
export function Notice({ children, tone = 'quiet' }: { children: ReactNode; tone?: 'quiet' | 'failure' }) {
  return (
    <div className="notice" data-tone={tone}>
      <svg className="notice-wave" viewBox="0 0 120 24" width="120" height="24" aria-hidden="true">
        <path d="M2 14c10 0 12-9 22-9s12 14 24 14 14-14 24-14 12 14 24 14 12-7 22-7" />
      </svg>
      {children}
    </div>
  );
}
