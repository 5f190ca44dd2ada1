import type { ReactNode } from 'react';
import type { ModerationEntry, ModerationLog } from '../../../contract/moderation/schema.ts';
import { moderationLog } from '../../../contract/paths/moderation-log.ts';
import * as paths from '../../../contract/paths.ts';
import { dateFormat, intlLocale, localAddress, plural, rich, t, withElements } from '../../language/translate.ts';
import type { PageHead } from '../../routing/document-head.ts';
import { SiteMark } from '../../ui/icons.tsx';
import { Notice } from '../../ui/notice.tsx';

/** Returns the document head of the public moderation log. Later pages have the canonical URL of the first page. */
export function logHead(siteName: string): PageHead {
  return {
    title: `${t('Moderation log')} · ${siteName}`,
    description: t('What the operators of {site} removed, hid, excluded or declined, when, and for what reason.', {
      site: siteName,
    }),
    canonical: moderationLog(),
  };
}

interface LogPageProps {
  siteName: string;
  logo?: string | undefined;
  /** Undefined if it could not be read. */
  log: ModerationLog | undefined;
  /** Whether this is a later page of the log. */
  isContinued: boolean;
}

/**
 * The public moderation log. It is rendered only on the server: the browser loads no app for it, and its links load
 * new documents.
 */
export function LogPage({ siteName, logo, log, isContinued }: LogPageProps) {
  return (
    <>
      <a className="skip-link" href="#main">
        {t('Skip to content')}
      </a>
      <header className="site-header">
        <div className="site-header-bar">
          <a className="brand" href={localAddress(paths.home)} aria-label={t('{site}, home', { site: siteName })}>
            <SiteMark logo={logo} />
            <span>{siteName}</span>
          </a>
        </div>
      </header>
      <main id="main" className="page" tabIndex={-1}>
        {log ? <Entries log={log} isContinued={isContinued} /> : <Failure />}
      </main>
      <footer className="site-footer">
        <p>
          <a href={localAddress(paths.home)}>{siteName}</a> ·{' '}
          {t('Product names and trademarks belong to their owners.')}
        </p>
      </footer>
    </>
  );
}

function Failure() {
  return (
    <Notice tone="failure">
      <h1 className="notice-title">{t('The log could not be loaded')}</h1>
      <div className="notice-actions">
        <a className="button" data-tone="primary" href={localAddress(moderationLog())}>
          {t('Try again')}
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
      <h1>{t('Moderation log')}</h1>
      <p>
        {t(
          'What the operators of this site removed, hid, excluded or declined, and why. Entries that were undone stay listed.',
        )}
      </p>
      {items.length === 0 && <p>{isContinued ? t('There are no older entries.') : t('The log is empty.')}</p>}
      <ol className="log-list">
        {items.map((entry) => (
          <li key={entry.id} data-undone={entry.undoneAt !== null || undefined}>
            <Entry entry={entry} />
          </li>
        ))}
      </ol>
      <nav className="log-pages" aria-label={t('Pages of the log')}>
        {isContinued && (
          <a className="button" data-tone="outline" href={localAddress(moderationLog())}>
            {t('Newest entries')}
          </a>
        )}
        {nextCursor !== null && (
          <a className="button" data-tone="outline" rel="next" href={localAddress(moderationLog(nextCursor))}>
            {t('Older')}
          </a>
        )}
      </nav>
    </div>
  );
}

function Entry({ entry: { at, action, productId, productName, votes, reason, undoneAt } }: { entry: ModerationEntry }) {
  const product =
    productName === null || productId === null ? (
      <span>{productId}</span>
    ) : (
      <a href={localAddress(paths.product(productId))} dir="auto">
        {productName}
      </a>
    );
  const words: Record<ModerationEntry['action'], ReactNode> = {
    'product.removed': rich('Product removed: {product}', { product }),
    'product.postponed': rich('Product postponed: {product}', { product }),
    'comment.hidden': rich('Comment hidden on {product}', { product }),
    'votes.excluded': withElements(
      plural('{count} vote excluded for {product}', '{count} votes excluded for {product}', votes ?? 0, {
        product: '{product}',
      }),
      { product },
    ),
    'votes.included': withElements(
      plural('{count} vote included for {product}', '{count} votes included for {product}', votes ?? 0, {
        product: '{product}',
      }),
      { product },
    ),
    'submission.declined': t('Submission declined'),
  };
  return (
    <article className="card log-entry">
      <p className="log-what">{words[action]}</p>
      <p dir="auto">{reason ?? t('No reason was given.')}</p>
      <p className="log-when">
        <Time at={at} />
        {undoneAt !== null && (
          <>
            {' · '}
            <strong>{rich('Undone {time}', { time: <Time at={undoneAt} /> })}</strong>
          </>
        )}
      </p>
    </article>
  );
}

function Time({ at }: { at: string }) {
  const format = dateFormat(intlLocale() ?? 'en-GB', {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return <time dateTime={at}>{format.format(new Date(at))} UTC</time>;
}
