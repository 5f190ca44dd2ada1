import { type RefObject, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { formatQuantity } from '../../../contract/text.ts';
import { showToast } from '../../../web/ui/toasts.ts';
import { usePerform } from '../../api/actions.ts';
import { messageOf } from '../../api/console-api.ts';
import { goTo } from '../../location.ts';
import { ImportIcon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { type ColumnChoice, ColumnForm, guessColumns } from './columns.tsx';
import { DryRun } from './dry-run.tsx';
import { type ChosenFile, readFile, readRowsAt } from './read-file.ts';
import { type ImportResult, runImport } from './run-import.ts';

/** Imports a file of products in steps: choose the file, map its columns, review the changes, import. */
export function ImportScreen() {
  const perform = usePerform();
  const [chosen, setChosen] = useState<ChosenFile>();
  const [choice, setChoice] = useState<ColumnChoice>({});
  const [slugifyIds, setSlugifyIds] = useState(false);
  const [result, setResult] = useState<ImportResult>();
  /** The rows with errors or, if there are none, the first rows. */
  const [rows, setRows] = useState<ChosenFile['rows']>([]);
  const [progress, setProgress] = useState<{ label: string; share: number }>();
  /**
   * The last run. Its signal is aborted if the file or its columns change or the screen closes. Then only a toast shows
   * the result of an import, and the request of a dry run is cancelled.
   */
  const latest = useRef<AbortController>(undefined);
  useEffect(() => () => latest.current?.abort(), []);
  /**
   * The file that was chosen last. If another file is chosen while a file is being read, the earlier one is ignored.
   */
  const lastFile = useRef<File>(undefined);
  const chooser = useRef<HTMLInputElement>(null);
  const columnsTitle = useRef<HTMLHeadingElement>(null);

  function discardRun(): void {
    latest.current?.abort();
    setProgress(undefined);
    setResult(undefined);
  }

  async function choose(file: File): Promise<void> {
    lastFile.current = file;
    try {
      const read = await readFile(file);
      if (lastFile.current !== file) return;
      discardRun();
      flushSync(() => {
        setChosen(read);
        setRows(read.rows);
        setChoice(guessColumns(read.columns));
      });
      // The focus is lost if the chooser had it, because the chooser disappears.
      if (document.activeElement === document.body) columnsTitle.current?.focus();
    } catch (error) {
      if (lastFile.current !== file) return;
      showToast({ title: 'This file cannot be read', description: messageOf(error), tone: 'destructive' });
    }
  }

  function chooseAnother(): void {
    discardRun();
    flushSync(() => setChosen(undefined));
    chooser.current?.focus();
  }

  /** Changes the column assignment and discards the result of the dry run, which used the previous assignment. */
  function change(next: ColumnChoice, slugify = slugifyIds): void {
    discardRun();
    setChoice(next);
    setSlugifyIds(slugify);
    setRows(chosen?.rows ?? []);
  }

  function begin(): AbortSignal {
    latest.current = new AbortController();
    return latest.current.signal;
  }

  async function run(dryRun: boolean, signal: AbortSignal): Promise<ImportResult> {
    if (!chosen) throw new Error('No file is chosen');
    const { size } = chosen.file;
    const products =
      result?.kind === 'done' ? result.summary.created + result.summary.updated + result.summary.unchanged : 0;
    const show = (next: typeof progress) => {
      if (!signal.aborted) setProgress(next);
    };
    show({ label: 'Sending', share: 0 });
    try {
      return await runImport(chosen, {
        ...{ choice, slugifyIds, dryRun },
        // An import, unlike a dry run, continues when the operator leaves the screen.
        ...(dryRun && { signal }),
        onProgress: ({ stage, done }) =>
          show(
            stage === 'check'
              ? { label: 'Checking', share: done / Math.max(1, size) / 2 }
              : { label: dryRun ? 'Comparing' : 'Importing', share: 0.5 + done / Math.max(1, products, done) / 2 },
          ),
      });
    } finally {
      show(undefined);
    }
  }

  async function finish(last: ImportResult, signal: AbortSignal): Promise<void> {
    const invalid = chosen && last.kind === 'errors' ? await readRowsAt(chosen, last.errors) : [];
    if (signal.aborted) return;
    setRows(invalid.length > 0 ? invalid : (chosen?.rows ?? []));
    setResult(last);
  }

  async function check(): Promise<void> {
    const signal = begin();
    try {
      await finish(await run(true, signal), signal);
    } catch (error) {
      if (signal.aborted) return;
      showToast({ title: 'The file could not be checked', description: messageOf(error), tone: 'destructive' });
    }
  }

  async function importAll(): Promise<void> {
    const signal = begin();
    const name = chosen?.file.name ?? '';
    const done = await perform({
      subjects: ['products', 'product', 'categories'],
      async run() {
        const last = await run(false, signal);
        if (last.kind !== 'done') {
          await finish(last, signal);
          const reason =
            last.kind === 'failed'
              ? last.message
              : `Nothing was imported, because the file has ${formatQuantity(last.count, 'error')}.`;
          throw new Error(signal.aborted ? reason : 'Nothing was imported. The page shows the reason.');
        }
        const { created, updated, auditId } = last.summary;
        const note = `${formatQuantity(created, 'new product')}, ${updated} updated.`;
        return { done: `Imported ${name}`, note, auditId };
      },
    });
    if (done && !signal.aborted) {
      setChosen(undefined);
      setResult(undefined);
      goTo('products');
    }
  }

  return (
    <Page title="Import" lead="Products from CSV, JSON or JSON Lines. The file is imported completely or not at all.">
      {chosen === undefined ? (
        <DropZone input={chooser} onFile={(file) => void choose(file)} />
      ) : (
        <div className="overview">
          <section className="card panel" aria-labelledby="columns-title">
            <div className="panel-head">
              <h2 ref={columnsTitle} id="columns-title" tabIndex={-1}>
                Columns of {chosen.file.name}
              </h2>
              <button type="button" className="button" data-tone="outline" onClick={chooseAnother}>
                Another file
              </button>
            </div>
            <div>
              <ColumnForm
                chosen={chosen}
                choice={choice}
                slugifyIds={slugifyIds}
                onChange={change}
                isBusy={progress !== undefined}
                onCheck={() => void check()}
              />
              <div role="status">
                {progress && (
                  <label className="progress">
                    {progress.label} …
                    <progress max={1} value={progress.share} />
                  </label>
                )}
              </div>
            </div>
          </section>
          <DryRun
            rows={rows}
            choice={choice}
            result={result}
            isBusy={progress !== undefined}
            onImport={() => void importAll()}
          />
        </div>
      )}
    </Page>
  );
}

/** Accepts a file by drag and drop or from the file picker. */
function DropZone({ input, onFile }: { input: RefObject<HTMLInputElement | null>; onFile: (file: File) => void }) {
  const [isOver, setOver] = useState(false);
  return (
    <label
      className="drop-zone"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const [file] = event.dataTransfer.files;
        if (file) onFile(file);
      }}
    >
      <ImportIcon />
      <strong>Drop a file here, or choose one</strong>
      <span className="quiet">.csv, .json, .jsonl or .ndjson, up to 64 MiB</span>
      <input
        ref={input}
        type="file"
        accept=".csv,.json,.jsonl,.ndjson"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          // Resets the input. Otherwise, choosing the same file again after correcting it would have no effect.
          target.value = '';
          if (file) onFile(file);
        }}
      />
    </label>
  );
}
