import {
  adjacentPeriod,
  PERIOD_KINDS,
  type Period,
  type PeriodKind,
  parsePeriod,
  periodContaining,
} from '../../../contract/leaderboards/period.ts';
import * as paths from '../../../contract/paths.ts';
import type { PlainMessage } from '../../language/catalogue.ts';
import { formatPeriod } from '../../language/format.ts';
import { t } from '../../language/translate.ts';
import { ChevronLeftIcon, ChevronRightIcon } from '../../ui/icons.tsx';
import { Link } from '../../ui/link.tsx';
import type { BoardSummary } from './board-stage.tsx';
import { useToday } from './use-today.ts';

const TABS: Record<PeriodKind, PlainMessage> = { day: 'Day', week: 'Week', month: 'Month', year: 'Year' };

/** Links to a board of each kind (day, week, month and year) whose period overlaps that of this board. */
export function PeriodTabs({ period, isRunning }: { period: Period; isRunning: boolean }) {
  const today = useToday();
  return (
    <nav className="sort-links" aria-label={t('Kind of period')}>
      {PERIOD_KINDS.map((kind) => {
        const target = tabTarget(period, kind, isRunning ? today : '');
        return (
          <Link key={kind} to={paths.board(target)} aria-current={kind === period.kind ? 'true' : undefined}>
            {t(TABS[kind])}
          </Link>
        );
      })}
    </nav>
  );
}

/**
 * Returns the period to which a tab leads: the one that contains today if this period is running, or otherwise the last
 * day of this period. With the first day instead, a tab could lead to a period before the first launch, which has no
 * board.
 */
function tabTarget(period: Period, kind: PeriodKind, today: string): string {
  if (kind === period.kind) return period.name;
  const lastDay = adjacentPeriod(periodContaining('day', period.endDay), -1)?.name ?? period.firstDay;
  return periodContaining(kind, today || lastDay).name;
}

/** Links to the boards before and after this one. */
export function AdjacentPeriods({ board }: { board: BoardSummary }) {
  return (
    <nav className="board-adjacent" aria-label={t('Other periods')}>
      <AdjacentLink name={board.previousPeriod} rel="prev" />
      <AdjacentLink name={board.nextPeriod} rel="next" />
    </nav>
  );
}

function AdjacentLink({ name, rel }: { name: string | null; rel: 'prev' | 'next' }) {
  const period = name === null ? undefined : parsePeriod(name);
  if (!period) return <span />;
  return (
    <Link className="board-adjacent-link" to={paths.board(period.name)} rel={rel}>
      {rel === 'prev' && <ChevronLeftIcon />}
      <span>
        <span className="visually-hidden">{rel === 'prev' ? `${t('Before:')} ` : `${t('After:')} `}</span>
        {capitalized(formatPeriod(period))}
      </span>
      {rel === 'next' && <ChevronRightIcon />}
    </Link>
  );
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
