import * as monaco from 'monaco-editor';

const worker = (label) => (/script/.test(label) ? 'language/typescript/ts.worker.js' : 'editor/editor.worker.js');
globalThis.MonacoEnvironment = { getWorker: (_, label) => new Worker(`/worker/monaco-editor/esm/vs/${worker(label)}`) };
const value = `interface Voyage {
  readonly boat: string;
  legs: Leg[];
}

type Leg = { port: string; miles: number; day: Date };

/** Adds up the miles of a voyage. */
export function distance({ legs }: Voyage): number {
  return legs.reduce((sum, leg) => sum + leg.miles, 0);
}

export class Logbook {
  #voyages = new Map<string, Voyage>();

  record(voyage: Voyage): this {
    const known = this.#voyages.get(voyage.boat);
    if (known) {
      known.legs.push(...voyage.legs);
    } else {
      this.#voyages.set(voyage.boat, voyage);
    }
    return this;
  }

  *longest(count = 3) {
    const sorted = [...this.#voyages.values()].sort((a, b) => distance(b) - distance(a));
    yield* sorted.slice(0, count);
  }
}

const log = new Logbook().record({
  boat: 'Petrel',
  legs: [{ port: 'Oban', miles: 24.5, day: new Date(2026, 5, 1) }],
});

for (const voyage of log.longest()) {
  console.log(voyage.boat, distance(voyage).toFixed(1));
}
`;
const editor = monaco.editor.create(document.querySelector('#app'), {
  value,
  language: 'typescript',
  theme: 'vs-dark',
  fontSize: 19,
  fontFamily: 'DejaVu Sans Mono',
  lineHeight: 27,
  minimap: { scale: 2 },
  bracketPairColorization: { enabled: true },
  guides: { bracketPairs: true },
  stickyScroll: { enabled: false },
  scrollBeyondLastLine: false,
  cursorBlinking: 'solid',
});
editor.setSelections(
  [
    [19, 7, 19, 12],
    [21, 12, 21, 17],
  ].map(([a, b, c, d]) => ({
    selectionStartLineNumber: a,
    selectionStartColumn: b,
    positionLineNumber: c,
    positionColumn: d,
  })),
);
editor.focus();
