import type { ReactNode } from 'react';

interface NoticeProps {
  children: ReactNode;
  /** Which picture stands above it: 'quiet' where there is nothing, 'failure' after one, 'lost' where no way leads. */
  tone?: 'quiet' | 'failure' | 'lost';
}

/** A calm full-width message in place of content: nothing found, nothing there, nothing loaded. */
export function Notice({ children, tone = 'quiet' }: NoticeProps) {
  return (
    <div className="notice" data-tone={tone}>
      <div className="notice-window" />
      {children}
    </div>
  );
}
