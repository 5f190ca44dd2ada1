import type { Leaderboard } from '../../../contract/leaderboards/schema.ts';
import { paths } from '../../../contract/paths.ts';

/** How anyone can check the board. */
export function BoardResult({ board: { period, kind, digest } }: { board: Leaderboard }) {
  return (
    <section className="board-result" aria-labelledby="board-result-title">
      <h2 id="board-result-title">How this is counted</h2>
      <p>
        A vote counts if it was cast within the 24 hours after its product’s launch and was not excluded. Equal counts
        share a rank; their order is drawn by SHA-256 and favours nobody.
      </p>
      {kind === 'day' ? (
        <p>
          Every vote that was considered is in the <a href={paths.api.tally(period)}>open tally</a>, so anyone can
          recompute the ranks.
        </p>
      ) : (
        <p>Every day in it has an open tally, so anyone can recompute the ranks.</p>
      )}
      {digest !== null && (
        <p className="board-digest">
          SHA-256 of the final tally: <code>{digest.replace('sha256:', '')}</code>
        </p>
      )}
    </section>
  );
}
