import { useQueryClient } from '@tanstack/react-query';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { AuditRecord } from '../../../contract/console/records.ts';
import { TimeAgo } from '../../../web/ui/time.tsx';
import { undoEntry, usePerform } from '../../api/actions.ts';
import { changeItems, usePages } from '../../api/pages.ts';
import { setQuery, useConsoleLocation } from '../../location.ts';
import { List } from '../../ui/list.tsx';
import { FilterTag, Page, Select } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';

const ACTIONS = [
  ['', 'Everything'],
  ['products', 'Products'],
  ['comments', 'Comments'],
  ['votes', 'Votes'],
  ['submissions', 'Submissions'],
  ['import', 'Imports'],
  ['backup', 'Backups'],
  ['console', 'Access to the console'],
] as const;

/** The audit log of all operators' changes, with a button for each change that can be undone. */
export function AuditScreen() {
  const { query } = useConsoleLocation();
  const action = ACTIONS.find(([each]) => each === query.get('action'))?.[0] ?? '';
  const operator = query.get('operator') ?? undefined;
  const target = query.get('target') ?? undefined;
  const from = dayOf(query.get('from'));
  const to = dayOf(query.get('to'));
  const isNarrowed = Boolean(action || operator || target || from || to);
  const filter = { action: action || undefined, operator, target, from: from || undefined, to: to || undefined };
  const pages = usePages<AuditRecord>('audit', CONSOLE_API.audit, filter);
  const undo = useUndo();

  return (
    <Page
      title="Audit log"
      toolbar={
        <>
          <Select label="Show" value={action} options={ACTIONS} onChange={(next) => setQuery({ action: next })} />
          <DayField label="From (UTC)" value={from} max={to} onChange={(day) => setQuery({ from: day })} />
          <DayField label="To (UTC)" value={to} min={from} onChange={(day) => setQuery({ to: day })} />
          {(['operator', 'target'] as const).map((name) => {
            const value = query.get(name);
            return value === null ? null : (
              <FilterTag key={name} parameter={name} value={value} effect={`remove the filter by ${name}`} />
            );
          })}
        </>
      }
    >
      <List
        label="Entries"
        pages={pages}
        keyOf={({ id }) => id}
        estimatePx={64}
        keys={{
          d: ([entry]) => {
            if (entry?.undoable) void undo(entry);
          },
        }}
        empty={
          <Empty title={isNarrowed ? 'No entry matches' : 'The audit log is empty'}>
            <p>
              {isNarrowed
                ? 'Try other days or another kind of action.'
                : 'Every change by an operator appears here, and most can be undone.'}
            </p>
          </Empty>
        }
        renderRow={(entry) => (
          <div className="row" data-faded={entry.undoneBy !== null || undefined}>
            <div className="row-body">
              <p className="row-line" data-row-focus tabIndex={-1}>
                <button type="button" className="text-button" onClick={() => setQuery({ operator: entry.operator })}>
                  {entry.operator}
                </button>{' '}
                {entry.sentence}.
              </p>
              <p className="row-meta">
                <TimeAgo time={entry.createdAt} />
                {entry.undoneBy !== null && <span className="tag">Undone</span>}
                {entry.undoes !== null && <span className="tag">Undid an earlier entry</span>}
                {target === undefined && (
                  <button type="button" className="text-button" onClick={() => setQuery({ target: entry.target })}>
                    Only this target
                  </button>
                )}
              </p>
            </div>
            <div className="row-actions">
              {entry.undoable && (
                <button type="button" className="button" data-tone="outline" onClick={() => void undo(entry)}>
                  Undo<span className="visually-hidden">: {entry.sentence}</span>
                </button>
              )}
            </div>
          </div>
        )}
      />
    </Page>
  );
}

/** Returns a day from the URL, or an empty string if the day is missing or malformed. */
const dayOf = (text: string | null) => (text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : '');

interface DayFieldProps {
  label: string;
  value: string;
  min?: string;
  max?: string;
  onChange: (day: string) => void;
}

function DayField({ label, value, min = '', max = '', onChange }: DayFieldProps) {
  return (
    <label className="select">
      <span>{label}</span>
      <input
        type="date"
        value={value}
        min={min || undefined}
        max={max || undefined}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

function useUndo(): (entry: AuditRecord) => Promise<boolean> {
  const client = useQueryClient();
  const perform = usePerform();
  return (entry) =>
    perform({
      subjects: ['audit', 'queue', 'products', 'product', 'comments', 'votes'],
      show: () =>
        changeItems<AuditRecord>(client, 'audit', (each) =>
          each.id === entry.id ? { ...each, undoable: false, undoneBy: '' } : each,
        ),
      async run() {
        const note = await undoEntry(entry.id);
        const what = `${entry.operator} ${entry.sentence}.`;
        return note ? { done: 'Partly undone', note: `${what} ${note}` } : { done: 'Undone', note: what };
      },
    });
}
