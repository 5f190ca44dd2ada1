import { python } from '@codemirror/lang-python';
import { linter, lintGutter, openLintPanel } from '@codemirror/lint';
import { openSearchPanel, SearchQuery, search, setSearchQuery } from '@codemirror/search';
import { basicSetup, EditorView } from 'codemirror';

const doc = `from datetime import date, timedelta


class Logbook:
    """Keeps the legs of a voyage."""

    def __init__(self, boat: str) -> None:
        self.boat = boat
        self.legs: list[tuple[date, str, float]] = []

    def sail(self, day, port, miles):
        self.legs.append((day, port, miles))

    @property
    def total(self) -> float:
        return sum(miles for _, _, miles in self.legs)


log = Logbook("Petrel")
start = date(2026, 6, 1)
for n, (port, miles) in enumerate([("Oban", 0), ("Canna", 31)]):
    log.sail(start + timedelta(days=n), port, miles)
print(f"{log.boat}: {log.totl} miles")
`;
const where = doc.indexOf('totl');
const notes = () => [
  { from: where, to: where + 4, severity: 'error', message: 'Logbook has no attribute “totl”. Did you mean “total”?' },
  {
    from: doc.indexOf('day, port, miles):'),
    to: doc.indexOf('day, port, miles):') + 16,
    severity: 'warning',
    message: 'Parameters without type hints',
  },
];
const view = new EditorView({
  doc,
  parent: document.querySelector('#app'),
  extensions: [
    basicSetup,
    python(),
    search({ top: true }),
    linter(notes, { delay: 0 }),
    lintGutter(),
    EditorView.theme({
      '&': { height: '800px', fontSize: '18px', background: '#fffdf9' },
      '.cm-scroller': { fontFamily: 'DejaVu Sans Mono', lineHeight: '1.5' },
      '.cm-panel': { fontSize: '17px' },
    }),
  ],
});
view.focus();
openSearchPanel(view);
view.dispatch({ effects: setSearchQuery.of(new SearchQuery({ search: 'miles' })) });
setTimeout(() => openLintPanel(view), 500);
