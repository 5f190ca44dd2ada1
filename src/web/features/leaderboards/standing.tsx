import { useQuery } from '@tanstack/react-query';
import { parsePeriod } from '../../../contract/leaderboards/period.ts';
import type { Standing as PeriodStanding, Standings } from '../../../contract/leaderboards/schema.ts';
import * as paths from '../../../contract/paths.ts';
import { useApi } from '../../api/api-context.tsx';
import { formatPeriod, ordinal } from '../../language/format.ts';
import { rich, t } from '../../language/translate.ts';
import { useProductId } from '../../routing/router.tsx';
import { Link } from '../../ui/link.tsx';
import { Calculation } from './calculation.tsx';
import { standingsOptions } from './queries.ts';

/** Shows the rank of the product on screen and explains it. */
export function Standing() {
  const { data, isPending } = useQuery(standingsOptions(useApi(), useProductId()));
  if (isPending) return <div className="standing" />;
  return data ? <KnownStanding standings={data} /> : null;
}

function KnownStanding({ standings }: { standings: Standings }) {
  const { day } = standings;
  return (
    <section className="standing" aria-label={t('Launch result')}>
      <p className="standing-line">
        <StandingWords standing={day} />
      </p>
      <details className="why">
        <summary>{day.votes > 0 ? t('Why {rank}?', { rank: ordinal(day.rank) }) : t('How is this counted?')}</summary>
        <div className="why-body">
          <Calculation standing={day} />
          {day.status === 'final' && (
            <ul className="why-periods" aria-label={t('In longer periods')}>
              {[standings.week, standings.month, standings.year].map((standing) => (
                <li key={standing.period}>
                  <StandingWords standing={standing} />
                </li>
              ))}
            </ul>
          )}
          <p className="why-links">
            <Link to={paths.board(day.period)}>{t('The whole leaderboard')}</Link>
            <a href={paths.api.tally(day.period)}>{t('Every vote, in the open tally')}</a>
          </p>
        </div>
      </details>
    </section>
  );
}

const STATUS_WORDS = { open: '{standing}, so far', provisional: '{standing}, provisional' } as const;

/** Describes a standing, e.g. '4th of 23 on 21 November 2026, so far'. */
export function StandingWords({
  standing: { period: name, rank, tied, launches, votes, status },
}: {
  standing: PeriodStanding;
}) {
  const period = parsePeriod(name);
  if (period === undefined) return null;
  const place = { rank: ordinal(rank), launches };
  const words = {
    place: (
      <strong>
        {votes === 0 ? t('No counted votes') : t(tied ? 'Tied {rank} of {launches}' : '{rank} of {launches}', place)}
      </strong>
    ),
    period: <Link to={paths.board(name)}>{formatPeriod(period)}</Link>,
  };
  const standing = period.kind === 'day' ? rich('{place} on {period}', words) : rich('{place} in {period}', words);
  return status === 'final' ? standing : rich(STATUS_WORDS[status], { standing });
}
