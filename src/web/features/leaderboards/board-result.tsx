import type { Leaderboard } from '../../../contract/leaderboards/schema.ts';
import { paths } from '../../../contract/paths.ts';
import { rich, t } from '../../language/translate.ts';

/** How anyone can check the board. */
export function BoardResult({ board: { period, kind, digest } }: { board: Leaderboard }) {
  return (
    <section className="board-result" aria-labelledby="board-result-title">
      <h2 id="board-result-title">{t('How this is counted')}</h2>
      <p>
        {t(
          'A vote counts if it was cast within the 24 hours after its product’s launch and was not excluded. Equal counts share a rank; their order is drawn by SHA-256 and favours nobody.',
        )}
      </p>
      {kind === 'day' ? (
        <p>
          {rich('Every vote that was considered is in the {tally}, so anyone can recompute the ranks.', {
            tally: <a href={paths.api.tally(period)}>{t('open tally')}</a>,
          })}
        </p>
      ) : (
        <p>{t('Every day in it has an open tally, so anyone can recompute the ranks.')}</p>
      )}
      {digest !== null && (
        <p className="board-digest">
          {`${t('SHA-256 of the final tally:')} `}
          <code dir="ltr">{digest.replace('sha256:', '')}</code>
        </p>
      )}
    </section>
  );
}
