import type { ReactNode } from 'react';

interface NoticeProps {
  children: ReactNode;
  /** The picture above it: 'quiet' for an empty result, 'failure' after an error, 'lost' for an unknown page. */
  tone?: 'quiet' | 'failure' | 'lost';
}

/** A full-width message in place of content: empty, unknown, or failed. */
export function Notice({ children, tone = 'quiet' }: NoticeProps) {
  return (
    <div className="notice" data-tone={tone}>
      <div className="notice-window" />
      {children}
    </div>
  );
}
