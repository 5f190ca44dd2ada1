import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import {
  type ActivityRecord,
  type Finding,
  MAX_COUNTED_PRODUCTS,
  type OverviewRecord,
} from '../../../contract/console/records.ts';
import * as paths from '../../../contract/paths.ts';
import { formatCount, formatQuantity, utcMinute, withPeriod } from '../../../contract/text.ts';
import { TimeAgo } from '../../../web/ui/time.tsx';
import { call, consoleKeys, formatWaiting, messageOf, useOverview } from '../../api/console-api.ts';
import { Chart } from '../../ui/chart.tsx';
import { FocusableButton } from '../../ui/focusable-button.tsx';
import { Page, ScreenLink, Segments } from '../../ui/page.tsx';
import { Failure, Loading, withCode } from '../../ui/states.tsx';

/** The site at a glance: waiting items, activity and findings. */
export function OverviewScreen() {
  const overview = useOverview();
  return (
    <Page title="Overview">
      {overview.isPending ? (
        <LoadingOverview />
      ) : !overview.data ? (
        <Failure error={overview.error} onRetry={() => void overview.refetch()} />
      ) : (
        <div className="overview">
          <Facts overview={overview.data} />
          <Activity overview={overview.data} />
          <div className="overview-columns">
            <Boards boards={overview.data.boards} />
            <Doctor />
          </div>
        </div>
      )}
    </Page>
  );
}

/** Placeholders of about the same size as the content, to limit layout shifts when it has loaded. */
function LoadingOverview() {
  return (
    <div className="overview" role="status" aria-label="Loading the overview">
      <div className="facts">
        {['waiting', 'bursts', 'products', 'backup'].map((fact) => (
          <span key={fact} className="skeleton skeleton-fact" />
        ))}
      </div>
      <span className="skeleton skeleton-chart" />
      <div className="overview-columns">
        <span className="skeleton skeleton-panel" />
        <span className="skeleton skeleton-panel" />
      </div>
    </div>
  );
}

function Facts({ overview: { waiting, lastBackupAt, backupsScheduled, database } }: { overview: OverviewRecord }) {
  const { submissions, heldComments, bursts } = waiting;
  return (
    <dl className="facts">
      <div className="fact card" data-tone={submissions + heldComments > 0 ? 'waiting' : undefined}>
        <dt>Waiting for you</dt>
        <dd>
          <ScreenLink screen="queue" className="fact-link">
            {formatWaiting(submissions, heldComments)}
          </ScreenLink>
          <small>
            {formatWaiting(submissions)} {submissions === 1 ? 'submission' : 'submissions'},{' '}
            {formatWaiting(heldComments)} {heldComments === 1 ? 'held comment' : 'held comments'}
          </small>
        </dd>
      </div>
      <div className="fact card">
        <dt>Vote bursts</dt>
        <dd>
          {formatWaiting(bursts)}
          <small>in seven days</small>
        </dd>
      </div>
      <div className="fact card">
        <dt>Products</dt>
        <dd>
          {database.products > MAX_COUNTED_PRODUCTS && '≈ '}
          {formatCount(database.products)}
          <small>{formatBytes(database.bytes)} in the database</small>
        </dd>
      </div>
      <div className="fact card" data-tone={lastBackupAt === null && !backupsScheduled ? 'failed' : undefined}>
        <dt>Last backup</dt>
        <dd>
          {lastBackupAt === null ? 'Never' : <TimeAgo time={lastBackupAt} />}
          <small>
            {lastBackupAt !== null
              ? `${utcMinute(lastBackupAt)} UTC`
              : backupsScheduled
                ? 'The first one is scheduled'
                : 'Set BACKUP_DIR'}
          </small>
        </dd>
      </div>
    </dl>
  );
}

const SPANS = [
  ['hours', '48 hours'],
  ['days', '30 days'],
] as const;

const SERIES = [
  ['Upvotes', 'upvotes', '--sun'],
  ['Comments', 'comments', '--sea'],
  ['Launches', 'launches', '--chart-launches'],
] as const;

function Activity({ overview }: { overview: OverviewRecord }) {
  const [span, setSpan] = useState<'hours' | 'days'>('hours');
  const records = overview[span];
  const times = useMemo(() => records.map(({ from }) => from), [records]);
  const series = useMemo(() => SERIES.map(([label, key, colour]) => seriesOf(records, label, key, colour)), [records]);
  return (
    <section className="card panel" aria-label="Activity">
      <div className="panel-head">
        <h2>Activity</h2>
        <Segments label="Time span" value={span} options={SPANS} onChange={setSpan} />
      </div>
      <Chart
        title={span === 'hours' ? 'By hour (UTC)' : 'By day (UTC)'}
        times={times}
        series={series}
        formatTime={span === 'hours' ? formatHour : formatDay}
        formatTick={span === 'hours' ? formatHourTick : formatDay}
      />
    </section>
  );
}

function seriesOf(records: readonly ActivityRecord[], label: string, key: (typeof SERIES)[number][1], colour: string) {
  return { label, colour, values: records.map((record) => record[key]) };
}

const DAY_FORMAT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const formatDay = (time: string) => DAY_FORMAT.format(new Date(time));
/** Formats a time below the chart: the date at midnight, otherwise the hour. */
const formatHourTick = (time: string) => (time.slice(11, 16) === '00:00' ? formatDay(time) : time.slice(11, 16));
const formatHour = (time: string) => `${formatDay(time)}, ${time.slice(11, 16)}`;

const KINDS = { day: 'Day', week: 'Week', month: 'Month', year: 'Year' } as const;

function Boards({ boards }: { boards: OverviewRecord['boards'] }) {
  const [kind, setKind] = useState<keyof typeof KINDS>('day');
  const board = boards.find((each) => each.kind === kind);
  return (
    <section className="card panel" aria-label="Leaderboards">
      <div className="panel-head">
        <h2>Leading</h2>
        <Segments
          label="Period"
          value={kind}
          options={Object.entries(KINDS) as [keyof typeof KINDS, string][]}
          onChange={setKind}
        />
      </div>
      {board === undefined || board.rows.length === 0 ? (
        <p className="quiet">No launches in this period yet.</p>
      ) : (
        <ol className="board">
          {board.rows.map(({ productId, name, rank, votes }) => (
            <li key={productId}>
              <span className="board-rank">{rank}</span>
              <a href={paths.product(productId)}>
                <bdi>{name}</bdi>
              </a>
              <span>{formatQuantity(votes, 'vote')}</span>
            </li>
          ))}
        </ol>
      )}
      {board && (
        <a className="panel-link" href={paths.board(board.period)}>
          The whole board of {board.period}
        </a>
      )}
    </section>
  );
}

const SIGNS = { ok: '✓', warning: '!', failed: '✗' } as const;

/** The findings of `groundswell doctor`, with a button that runs the checks again. */
function Doctor() {
  const doctor = useQuery({
    queryKey: consoleKeys.doctor,
    queryFn: ({ signal }) => call<{ findings: Finding[] }>(CONSOLE_API.doctor, { signal }),
    staleTime: 5 * 60_000,
    refetchOnWindowFocus: false,
  });
  return (
    <section className="card panel" aria-label="Health">
      <div className="panel-head">
        <h2>Health</h2>
        <FocusableButton
          type="button"
          data-tone="outline"
          isDisabled={doctor.isFetching}
          onClick={() => void doctor.refetch()}
        >
          {doctor.isFetching ? 'Checking …' : 'Check again'}
        </FocusableButton>
      </div>
      {doctor.isPending ? (
        <Loading label="Checking the site" rows={4} />
      ) : !doctor.data ? (
        <Failure error={doctor.error} onRetry={() => void doctor.refetch()} />
      ) : (
        <>
          {doctor.isError && (
            <p className="gate-error" role="alert">
              The last check failed. {messageOf(doctor.error)}
            </p>
          )}
          <ul className="findings">
            {doctor.data.findings.map(({ check, status, message, advice }) => (
              <li key={check} data-status={status}>
                <span className="finding-sign" aria-hidden="true">
                  {SIGNS[status]}
                </span>
                <p>
                  <strong>{check}</strong>
                  <span className="visually-hidden"> ({status})</span> {withPeriod(message)}
                  {advice && <em> {withCode(advice)}</em>}
                </p>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function formatBytes(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const inUnit = (power: number) => bytes / 2 ** (10 * power);
  // Compares the rounded number, so 2^30 - 1 bytes are shown as 1.0 GiB instead of 1024.0 MiB.
  const power = units.findIndex((_, index) => Math.round(inUnit(index)) < 1_024 || index === units.length - 1);
  return `${inUnit(power).toFixed(power > 1 ? 1 : 0)} ${units[power]}`;
}
