import type { HourlyVotes } from '../../../contract/leaderboards/schema.ts';
import { LIMITS } from '../../../contract/limits.ts';
import * as paths from '../../../contract/paths.ts';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { ordinal } from '../../language/format.ts';
import { formatCount, plural, rich, t } from '../../language/translate.ts';
import { Link } from '../../ui/link.tsx';
import { useNow } from '../../ui/time.tsx';
import { formatTime, visitorTimeZone } from './times.ts';

/** The maker's view of a launch, above the product's page. */
export function MakerLaunch({ submission }: { submission: Submission }) {
  const { standing, votesByHour, product } = submission;
  const day = standing?.day;
  return (
    <section className="card maker-launch" aria-labelledby="maker-launch">
      <div className="maker-launch-head">
        <h2 id="maker-launch">{t('Your launch')}</h2>
        <p className="submission-hint">
          {t('Only you see this. Comments that you write below carry the Maker badge.')}
        </p>
      </div>
      <dl className="maker-numbers">
        <div>
          <dt>{t('Rank of the day')}</dt>
          <dd>
            {day && day.votes > 0 ? (
              <Link to={paths.board(day.period)}>
                {rich(day.tied ? 'Tied {rank} {total}' : '{rank} {total}', {
                  rank: ordinal(day.rank),
                  total: <small>{t('of {count}', { count: day.launches })}</small>,
                })}
              </Link>
            ) : (
              '–'
            )}
          </dd>
        </div>
        <div>
          <dt>{t('Counted votes')}</dt>
          <dd>{formatCount(day?.votes ?? 0)}</dd>
        </div>
        <div>
          <dt>{t('Comments')}</dt>
          <dd>{formatCount(product.comments)}</dd>
        </div>
      </dl>
      <VotesByHour hours={votesByHour} />
      {day && <WindowEnd endsAt={day.windowEndsAt} />}
    </section>
  );
}

function WindowEnd({ endsAt }: { endsAt: string }) {
  const isOver = useNow() >= Date.parse(endsAt);
  const time = formatTime(endsAt, visitorTimeZone());
  return (
    <p className="submission-hint">
      {isOver
        ? t('The voting window of {hours} hours ended on {time}.', { hours: LIMITS.launchWindowHours, time })
        : t('Votes count until {time}, in your time zone.', { time })}
    </p>
  );
}

const HEIGHT = 40;
/** The width of a bar, in units of the chart. Each hour is 10 units wide. */
const BAR_WIDTH = 7;

/** A chart with one bar for each hour of the launch, and a table for screen readers. */
function VotesByHour({ hours }: { hours: readonly HourlyVotes[] }) {
  const zone = visitorTimeZone();
  const most = Math.max(1, ...hours.map(({ votes }) => votes));
  const total = hours.reduce((sum, { votes }) => sum + votes, 0);
  return (
    <figure className="maker-chart">
      <figcaption>
        {t('Votes by hour')} <span>{total === 0 ? t('No counted votes') : t('Maximum: {count}', { count: most })}</span>
      </figcaption>
      <svg viewBox={`0 0 ${LIMITS.launchWindowHours * 10} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {Array.from({ length: LIMITS.launchWindowHours }, (_, hour) => {
          const votes = hours[hour]?.votes;
          // An hour without votes is shown as a line, and a future hour as a fainter one.
          const height = votes ? Math.max(3, (votes / most) * HEIGHT) : 1.5;
          const kind = votes === undefined ? 'future' : votes === 0 ? 'none' : 'votes';
          return (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: each bar stands for an hour
              key={hour}
              data-kind={kind}
              x={hour * 10 + (10 - BAR_WIDTH) / 2}
              y={HEIGHT - height}
              width={BAR_WIDTH}
              height={height}
            />
          );
        })}
      </svg>
      <p className="maker-chart-ends" aria-hidden="true">
        <span>{hours[0] ? formatTime(hours[0].from, zone) : ''}</span>
        <span>{plural('{count} hour', '{count} hours', LIMITS.launchWindowHours)}</span>
      </p>
      {/* A table cannot be narrower than its content, so a wrapper hides it. */}
      <div className="visually-hidden">
        <table>
          <caption>{t('Votes by hour')}</caption>
          <thead>
            <tr>
              <th scope="col">{t('Start of the hour')}</th>
              <th scope="col">{t('Votes')}</th>
            </tr>
          </thead>
          <tbody>
            {hours.map(({ from, votes }) => (
              <tr key={from}>
                <th scope="row">{formatTime(from, zone)}</th>
                <td>{plural('{count} vote', '{count} votes', votes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
