import { useState } from 'react';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import { withQuery } from '../../../contract/paths/api.ts';
import { TimeAgo } from '../../../web/ui/time.tsx';
import { useOverview } from '../../api/console-api.ts';
import { BackupIcon, ImportIcon } from '../../ui/icons.tsx';
import { Page, Segments } from '../../ui/page.tsx';

const TABLES = [
  ['products', 'Products'],
  ['comments', 'Comments'],
  ['upvotes', 'Upvotes'],
] as const;

const KINDS = [
  ['csv', 'CSV'],
  ['json', 'JSON'],
  ['json-lines', 'JSON Lines'],
] as const;

/** The screen for downloading a backup of the whole site, or an export of one table. */
export function BackupScreen() {
  const { data, isError } = useOverview();
  const [table, setTable] = useState<(typeof TABLES)[number][0]>('products');
  const [kind, setKind] = useState<(typeof KINDS)[number][0]>('csv');
  const [counts, setCounts] = useState(false);
  const query = { table, kind, counts: (counts && table === 'products') || undefined };

  return (
    <Page title="Backup and export">
      <div className="overview-columns">
        <section className="card panel" aria-labelledby="backup-title">
          <h2 id="backup-title">Backup</h2>
          <p>
            The whole site in one file that <code>groundswell restore</code> reads. It contains visitors' session ids,
            so keep it as safe as the site.
          </p>
          <p className="quiet">
            Last backup:{' '}
            {data?.lastBackupAt ? (
              <TimeAgo time={data.lastBackupAt} />
            ) : data ? (
              'never'
            ) : isError ? (
              'unknown'
            ) : (
              'loading'
            )}
            .
          </p>
          <p>
            <a className="button" data-tone="primary" href={CONSOLE_API.backup} download>
              <BackupIcon />
              Download a backup
            </a>
          </p>
        </section>
        <section className="card panel" aria-labelledby="export-title">
          <h2 id="export-title">Export</h2>
          <p>
            One table for a spreadsheet or a program. It does not identify visitors. An export of products can be
            imported again.
          </p>
          <Segments label="Table" value={table} options={TABLES} onChange={setTable} />
          <Segments label="Format" value={kind} options={KINDS} onChange={setKind} />
          {table === 'products' && (
            <label className="check">
              <input type="checkbox" checked={counts} onChange={(event) => setCounts(event.target.checked)} />
              Include the numbers of upvotes and comments
            </label>
          )}
          <p>
            <a className="button" data-tone="outline" href={withQuery(CONSOLE_API.export, query)} download>
              <ImportIcon />
              Download {table}
            </a>
          </p>
        </section>
      </div>
    </Page>
  );
}
