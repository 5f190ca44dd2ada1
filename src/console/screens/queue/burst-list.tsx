import { useState } from 'react';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import { type BurstRecord, MAX_LISTED_BURSTS } from '../../../contract/console/records.ts';
import * as paths from '../../../contract/paths.ts';
import { formatCount, formatQuantity } from '../../../contract/text.ts';
import { usePerform } from '../../api/actions.ts';
import { call } from '../../api/console-api.ts';
import type { Pages } from '../../api/pages.ts';
import { goTo } from '../../location.ts';
import { List } from '../../ui/list.tsx';
import { Empty } from '../../ui/states.tsx';
import { type VoteChoice, VotesDialog } from './votes-dialog.tsx';

const HOUR_MS = 3_600_000;

/**
 * Hours in which one network cast many votes. The key D lists the votes of the hour, to exclude them from leaderboards.
 */
export function BurstList({ pages }: { pages: Pages<BurstRecord> }) {
  const perform = usePerform();
  const [shown, setShown] = useState<BurstRecord>();

  function change(burst: BurstRecord, { action, reason, voters }: VoteChoice): Promise<unknown> {
    const { productId, productName } = burst;
    return perform({
      subjects: ['votes'],
      isInDialog: true,
      async run() {
        const { votes, auditId } = await call<{ votes: number; auditId: string }>(CONSOLE_API.votes(productId), {
          method: 'POST',
          body: { action, reason, voters },
        });
        const done = action === 'exclude' ? 'Excluded' : 'Included';
        const note = `${productName}, ${describeHour(burst)}`;
        return { done: `${done} ${formatQuantity(votes, 'vote')}`, note, auditId };
      },
    });
  }

  return (
    <>
      <List
        label="Vote bursts"
        pages={pages}
        keyOf={({ hour, productId, network }) => `${hour} ${productId} ${network}`}
        estimatePx={64}
        onOpen={setShown}
        keys={{ d: ([burst]) => setShown(burst) }}
        empty={
          <Empty title="No bursts">
            <p>
              If twenty or more visitors from one network vote for one product within one clock hour, this list shows
              the burst for a week.
            </p>
          </Empty>
        }
        renderRow={(burst) => (
          <div className="row">
            <div className="row-body">
              <p className="row-line">
                <strong>{burst.sessions} sessions</strong> from one network voted for{' '}
                <a href={paths.product(burst.productId)}>{burst.productName}</a>
              </p>
              <p className="row-meta">
                <span>{describeHour(burst)}</span>
                <button
                  type="button"
                  className="text-button"
                  onClick={() => goTo('audit', { target: burst.productId })}
                >
                  Decisions
                </button>
              </p>
            </div>
            <div className="row-actions">
              <button
                type="button"
                className="button"
                data-tone="outline"
                data-row-focus
                onClick={() => setShown(burst)}
              >
                Show votes<span className="visually-hidden"> for {burst.productName}</span>
              </button>
            </div>
          </div>
        )}
      />
      {pages.count >= MAX_LISTED_BURSTS && <p>Only the largest {formatCount(MAX_LISTED_BURSTS)} bursts are listed.</p>}
      {shown && (
        <VotesDialog
          burst={shown}
          to={endOf(shown)}
          description={describeHour(shown)}
          onClose={() => setShown(undefined)}
          onSubmit={(choice) => change(shown, choice)}
        />
      )}
    </>
  );
}

const endOf = ({ hour }: BurstRecord) => new Date(Date.parse(hour) + HOUR_MS).toISOString();

function describeHour(burst: BurstRecord): string {
  const { hour } = burst;
  return `${hour.slice(0, 10)}, ${hour.slice(11, 16)} to ${endOf(burst).slice(11, 16)} UTC`;
}
