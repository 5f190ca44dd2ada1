import type { MouseEventHandler, ReactNode } from 'react';
import { t } from '../language/translate.ts';
import { Link } from './link.tsx';

interface NoticeProps {
  children: ReactNode;
  /**
   * The picture above the message: 'quiet' for an empty result, 'failure' after an error, 'lost' for an unknown page.
   */
  tone?: 'quiet' | 'failure' | 'lost';
}

/** A full-width message in place of content: an empty result, an error or an unknown page. */
export function Notice({ children, tone = 'quiet' }: NoticeProps) {
  return (
    <div className="notice" data-tone={tone}>
      <div className="notice-window" />
      {children}
    </div>
  );
}

/** A notice that data could not be read. `title` says which data. `actions` are shown next to the retry button. */
export function FailureNotice({ title, actions }: { title: ReactNode; actions?: ReactNode }) {
  return (
    <Notice tone="failure">
      {title}
      <p>{t('The tide is out for a moment. Nothing is lost.')}</p>
      <div className="notice-actions">
        <button type="button" className="button" data-tone="primary" onClick={() => window.location.reload()}>
          {t('Try again')}
        </button>
        <noscript>
          {typeof window === 'undefined' && (
            // biome-ignore lint/a11y/useValidAnchor: an empty URL is the page's own URL
            <a className="button" data-tone="primary" href="">
              {t('Try again')}
            </a>
          )}
        </noscript>
        {actions}
      </div>
    </Notice>
  );
}

interface NoticeLinkProps {
  to: string;
  onClick?: MouseEventHandler;
  children: ReactNode;
}

/** A link to another page, for use in a notice. */
export function NoticeLink({ to, onClick, children }: NoticeLinkProps) {
  return (
    <div className="notice-actions">
      <Link className="button" data-tone="primary" to={to} onClick={onClick}>
        {children}
      </Link>
    </div>
  );
}
