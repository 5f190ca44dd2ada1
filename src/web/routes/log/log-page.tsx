import type { ReactNode } from 'react';
import type { ModerationEntry, ModerationLog } from '../../../contract/moderation/schema.ts';
import { paths } from '../../../contract/paths.ts';
import { SiteMark } from '../../ui/icons.tsx';
import { Notice } from '../../ui/notice.tsx';

interface LogPageProps {
  siteName: string;
  logo?: string | undefined;
  /** Null: the site has no public log. Undefined: it could not be read. */
  log: ModerationLog | null | undefined;
  /** Whether it begins further down. */
  isContinued: boolean;
}

/** The public moderation log. Rendered on the server alone: the browser gets no script for it, and links load documents. */
export function LogPage({ siteName, logo, log, isContinued }: LogPageProps) {
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <header className="site-header">
        <div className="site-header-bar">
          <a className="brand" href={paths.home} aria-label={`${siteName}, home`}>
            <SiteMark logo={logo} />
            <span>{siteName}</span>
          </a>
        </div>
      </header>
      <main id="main" className="page" tabIndex={-1}>
        {log === null && <NoLog />}
        {log === undefined && <Failure />}
        {log && <Entries log={log} isContinued={isContinued} />}
      </main>
      <footer className="site-footer">
        <p>
          <a href={paths.home}>{siteName}</a> · Names and marks of products belong to their owners.
        </p>
      </footer>
    </>
  );
}

function NoLog() {
  return (
    <Notice tone="lost">
      <h1 className="notice-number">404</h1>
      <p className="notice-title">Oops! Page not found</p>
      <div className="notice-actions">
        <a className="button" data-tone="primary" href={paths.home}>
          Return to Home
        </a>
      </div>
    </Notice>
  );
}

function Failure() {
  return (
    <Notice tone="failure">
      <h1 className="notice-title">The log could not be loaded</h1>
      <div className="notice-actions">
        <a className="button" data-tone="primary" href={paths.moderationLog()}>
          Try again
        </a>
      </div>
    </Notice>
  );
}

function Entries({
  log: { items, nextCursor },
  isContinued,
}: Pick<LogPageProps, 'isContinued'> & { log: ModerationLog }) {
  return (
    <div className="log">
      <h1>Moderation log</h1>
      <p className="log-lead">
        What the operators of this site removed, hid, excluded or declined, and why. What was undone stays listed.
      </p>
      {items.length === 0 && (
        <p className="log-empty">{isContinued ? 'Nothing older.' : 'Nothing was moderated yet.'}</p>
      )}
      <ol className="log-list">
        {items.map((entry) => (
          <li key={entry.id} data-undone={entry.undoneAt !== null || undefined}>
            <Entry entry={entry} />
          </li>
        ))}
      </ol>
      <nav className="log-pages" aria-label="Pages of the log">
        {isContinued && (
          <a className="button" data-tone="outline" href={paths.moderationLog()}>
            Newest
          </a>
        )}
        {nextCursor !== null && (
          <a className="button" data-tone="outline" rel="next" href={paths.moderationLog(nextCursor)}>
            Older
          </a>
        )}
      </nav>
    </div>
  );
}

function Entry({ entry: { at, action, productId, productName, votes, reason, undoneAt } }: { entry: ModerationEntry }) {
  const product =
    productName === null || productId === null ? (
      <span className="log-id">{productId}</span>
    ) : (
      <a href={paths.product(productId)} dir="auto">
        {productName}
      </a>
    );
  const words: Record<ModerationEntry['action'], ReactNode> = {
    'product.removed': <>Product removed: {product}</>,
    'comment.hidden': <>Comment hidden on {product}</>,
    'votes.excluded': (
      <>
        {votes?.toLocaleString('en')} {votes === 1 ? 'vote' : 'votes'} excluded for {product}
      </>
    ),
    'submission.declined': <>Submission declined</>,
  };
  return (
    <article className="card log-entry">
      <p className="log-what">{words[action]}</p>
      <p className="log-reason" dir="auto">
        {reason ?? 'No reason was given.'}
      </p>
      <p className="log-when">
        <Time at={at} />
        {undoneAt !== null && (
          <>
            {' · '}
            <strong>
              Undone <Time at={undoneAt} />
            </strong>
          </>
        )}
      </p>
    </article>
  );
}

const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

function Time({ at }: { at: string }) {
  return <time dateTime={at}>{TIME.format(new Date(at))} UTC</time>;
}
